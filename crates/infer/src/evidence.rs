//! What the releases say of one regression, party by party.
//!
//! Each party's noise on X'y has one scale in *its own* weighted units, x = (g, u), y = eta v: there the matrix is S,
//! the vector z, and the coefficients are theta' = A theta with A = diag(eta/g, eta, ..). Parties may differ in weights, noise
//! and numbers of records; they must agree on columns and bounds.

use organza_release::{Domain, Family, Release};

use crate::InferError;
use crate::eigen::{Eigen, symmetric_eigen};

/// One party's noisy statistics in its weighted units, in the eigenbasis of the nearest positive semi-definite X'X.
#[derive(Debug, Clone)]
pub(crate) struct Party {
    /// Eigenvalues of S, cut at zero.
    pub values: Vec<f64>,
    /// A E: from the eigenbasis to theta's coordinates, row-major.
    pub basis: Vec<f64>,
    /// E'z.
    pub rotated: Vec<f64>,
    /// Variance of the noise on each coordinate of z.
    pub noise_variance: f64,
    /// eta^2: the residual variance in weighted units is this times the plain one.
    pub response_scale: f64,
}

/// The releases of one regression.
#[derive(Debug, Clone)]
pub struct Evidence {
    pub(crate) parties: Vec<Party>,
    domain: Domain,
}

impl Evidence {
    /// Checks that the releases describe one regression and prepares them.
    ///
    /// The nearest positive semi-definite matrix is the maximum-likelihood estimate of X'X in the isometric layout
    /// (\[AYB23\] section 4.2 claims it for every layout).
    pub fn new(releases: &[Release]) -> Result<Self, InferError> {
        let first = releases.first().ok_or(InferError::NoRelease)?;
        for (index, release) in releases.iter().enumerate() {
            check_agreement(first, release)?;
            if releases[..index].iter().any(|earlier| earlier.party == release.party) {
                return Err(InferError::Duplicate { party: release.party.clone() });
            }
        }
        let parties = releases.iter().map(Party::new).collect::<Result<_, _>>()?;
        Ok(Self { parties, domain: first.domain.clone() })
    }

    /// Number of coefficients, the intercept included.
    pub fn dimension(&self) -> usize {
        self.domain.dimension() - 1
    }

    /// The public domain, for names and units.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }
}

impl Party {
    fn new(release: &Release) -> Result<Self, InferError> {
        if release.noise.family != Family::Gaussian {
            return Err(InferError::Family { party: release.party.clone() });
        }
        let domain = &release.domain;
        let size = domain.dimension() - 1;
        let weight = |index: usize| domain.coordinate_weight(index);
        let (mut gram, mut cross, mut noise_variance) = (vec![0.0; size * size], vec![0.0; size], 0.0f64);
        if domain.intercept() {
            // Overwritten if it was released; else it is the public number of records.
            gram[0] = release.records.unwrap_or(0) as f64 * weight(0) * weight(0);
        }
        for (index, &[row, column]) in release.statistic.entries().iter().enumerate() {
            let scaled = weight(row) * weight(column);
            let value = release.value[index] * scaled;
            if column < size {
                (gram[row * size + column], gram[column * size + row]) = (value, value);
            } else if row < size {
                cross[row] = value;
                noise_variance = noise_variance.max((release.noise.scales[index] * scaled).powi(2));
            }
        }
        let Eigen { values, vectors } = symmetric_eigen(&gram, size);
        let response = domain.response_weight();
        let rotated = (0..size).map(|k| (0..size).map(|i| vectors[i * size + k] * cross[i]).sum()).collect();
        let basis = (0..size * size).map(|k| vectors[k] * response / weight(k / size)).collect();
        let values = values.into_iter().map(|value| value.max(0.0)).collect();
        Ok(Self { values, basis, rotated, noise_variance, response_scale: response * response })
    }
}

fn check_agreement(first: &Release, second: &Release) -> Result<(), InferError> {
    let fail = |field: &'static str, expected: String, found: String| {
        let (first, second) = (first.party.clone(), second.party.clone());
        Err(InferError::Disagreement { first, second, field, expected, found })
    };
    let (a, b) = (&first.domain, &second.domain);
    if a.intercept() != b.intercept() {
        return fail("the intercept", a.intercept().to_string(), b.intercept().to_string());
    }
    if a.feature_names() != b.feature_names() {
        return fail("the features", a.feature_names().join(", "), b.feature_names().join(", "));
    }
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
        _ => fail("the kind of domain", "box or ball".into(), "the other".into()),
    }
}
