//! Do two releases describe the same regression?

use organza_release::{Domain, Release};

use crate::InferError;

/// Compares a release with the first one; the error names both parties and the field.
pub(super) fn check(first: &Release, second: &Release) -> Result<(), InferError> {
    let fail = |field, expected, found| Err(disagreement((first, second), field, expected, found));
    let (a, b) = (&first.domain, &second.domain);
    if a.intercept() != b.intercept() {
        return fail("the intercept", a.intercept().to_string(), b.intercept().to_string());
    }
    check_features(first, second)?;
    if a.response_name() != b.response_name() {
        return fail("the response", a.response_name().to_string(), b.response_name().to_string());
    }
    match (a, b) {
        (Domain::Box(a), Domain::Box(b)) => {
            for (x, y) in a.features.iter().chain([&a.response]).zip(b.features.iter().chain([&b.response])) {
                if (x.lower, x.upper) != (y.lower, y.upper) {
                    let text = |lower: f64, upper: f64| format!("{} in [{lower}, {upper}]", x.name);
                    return fail("bounds", text(x.lower, x.upper), text(y.lower, y.upper));
                }
            }
            Ok(())
        }
        (Domain::Ball(a), Domain::Ball(b))
            if (a.radius, a.response_bound) == (b.radius, b.response_bound) =>
        {
            Ok(())
        }
        (Domain::Ball(a), Domain::Ball(b)) => {
            let text = |radius: f64, bound: f64| format!("|x| <= {radius}, |y| <= {bound}");
            fail("the norms", text(a.radius, a.response_bound), text(b.radius, b.response_bound))
        }
        _ => fail("the kind of domain", kind(a).into(), kind(b).into()),
    }
}

/// The names of the features alone.
pub(super) fn check_features(first: &Release, second: &Release) -> Result<(), InferError> {
    let (a, b) = (first.domain.feature_names(), second.domain.feature_names());
    match a == b {
        true => Ok(()),
        false => Err(disagreement((first, second), "the features", a.join(", "), b.join(", "))),
    }
}

fn disagreement(
    (first, second): (&Release, &Release),
    field: &'static str,
    expected: String,
    found: String,
) -> InferError {
    let (first, second) = (first.party.clone(), second.party.clone());
    InferError::Disagreement { first, second, field, expected, found }
}

fn kind(domain: &Domain) -> &'static str {
    match domain {
        Domain::Box(_) => "box",
        Domain::Ball(_) => "ball",
    }
}
