//! What would be published: the plan of a release, for a person and for machines.

use organza_curator::ledger::Preview;
use organza_curator::mechanism::Plan;
use organza_release::{Domain, Layout, Noise, Statistic};
use organza_studies::frontier::Expected;
use serde_json::{Value, json};

use crate::cli::terminal::{apart, prose, short, table};

/// Names of the coordinates of a record.
fn coordinate_names(domain: &Domain) -> Vec<&str> {
    let constant = domain.intercept().then_some("1");
    constant.into_iter().chain(domain.feature_names()).chain([domain.response_name()]).collect()
}

/// Names of the released entries, for example `x1*y`.
pub fn entry_names(domain: &Domain, statistic: &Statistic) -> Vec<String> {
    let names = coordinate_names(domain);
    let product = |indices: &[usize]| indices.iter().map(|&index| names[index]).collect::<Vec<_>>().join("*");
    let pairs = statistic.entries().iter().map(|entry| product(entry));
    match statistic {
        Statistic::FourthMoments { entries } => entries.iter().map(|entry| product(entry)).collect(),
        Statistic::AdaSsp { .. } => pairs.chain(["(smallest eigenvalue)".to_string()]).collect(),
        _ => pairs.collect(),
    }
}

/// Noise scale (and value) of every entry.
pub fn noise_table(domain: &Domain, statistic: &Statistic, noise: &Noise, values: Option<&[f64]>) -> String {
    let names = entry_names(domain, statistic);
    let rows = names.into_iter().enumerate().map(|(index, name)| {
        let value = values.map(|values| short(values[index]));
        [Some(name), value, Some(short(noise.scales[index]))].into_iter().flatten().collect()
    });
    match values {
        Some(_) => table(&["sum of", "noisy value", "noise scale"], rows),
        None => table(&["sum of", "noise scale"], rows),
    }
}

/// The plan for machines.
pub fn as_json(plan: &Plan, preview: Option<&Preview>, expected: Option<&Expected>) -> Value {
    json!({
        "formula": plan.domain().formula(),
        "domain": plan.domain(),
        "entries": entry_names(plan.domain(), plan.statistic()),
        "statistic": plan.statistic(),
        "indices": plan.statistic().entries(),
        "layout": plan.statistic().layout(),
        "norm": plan.privacy().norm,
        "neighbours": plan.privacy().neighbours,
        "sensitivity": plan.sensitivity().value,
        "sensitivity_is_exact": plan.sensitivity().tight,
        "noise": plan.noise(),
        "weighted_scale": plan.weighted_scale(),
        "privacy": plan.privacy(),
        "ledger": preview,
        "expected": expected,
    })
}

/// The plan for a person; `other` is the plan with the other layout, for comparison.
pub fn explain(plan: &Plan, other: Option<&Plan>, preview: Option<&Preview>) -> String {
    let privacy = plan.privacy();
    let exact = if plan.sensitivity().tight { "exact" } else { "upper bound" };
    let mut text = format!(
        "formula      {}\nguarantee    ({}, {})-differential privacy, neighbours {:?}\n\
         sensitivity  {} ({:?}, {exact}), layout {}\n",
        plan.domain().formula(),
        short(privacy.epsilon),
        short(privacy.delta),
        privacy.neighbours,
        short(plan.sensitivity().value),
        privacy.norm,
        layout_name(plan),
    );
    if let Domain::Box(domain) = plan.domain() {
        match domain.record_scale {
            Some(radius) => {
                let shrunk =
                    if domain.shrinks_nothing() { "none is longer than" } else { "shrunk whole to norm" };
                text += &format!(
                    "records      {shrunk} {}; weights: intercept {}, response {}\n",
                    short(radius),
                    short(domain.intercept_weight),
                    short(domain.response_weight)
                )
            }
            None => text += "records      not scaled\n",
        }
    }
    text += &format!("statistic    {}\n", describe_statistic(plan.statistic()));
    text += &noise_table(plan.domain(), plan.statistic(), plan.noise(), None);
    if let Some(other) = other {
        let scales = match apart(largest(other), largest(plan)) {
            Some((theirs, ours)) => format!("{theirs} instead of {ours}"),
            None => format!("{} all the same", short(largest(plan))),
        };
        text += &format!(
            "With the {} layout the sensitivity would be {} and the largest noise scale {scales}.\n",
            layout_name(other),
            short(other.sensitivity().value),
        );
    }
    text + &preview.map_or(String::new(), explain_preview)
}

/// Widths to be expected, and what that assumes.
pub fn explain_expected(expected: &Expected) -> String {
    let rows = expected.slopes.iter().map(|slope| {
        let ratio = slope.width / slope.width_without_privacy;
        vec![
            slope.name.clone(),
            short(rounded(slope.width)),
            short(rounded(slope.width_without_privacy)),
            format!("{ratio:.1}"),
        ]
    });
    let text = table(&["slope of", "expected width", "without privacy", "ratio"], rows);
    text + &prose(&format!(
        "Widths of {} percent intervals of a default fit in your units: medians over {} simulated tables of {} records. Assumed: the standard \
         deviation of every column is {} of the half-range of its bounds (--fill), means are off-centre, features explain half of the response's \
         variance. No table was read.",
        short(100.0 * expected.level),
        expected.replicates,
        expected.records,
        short(expected.fill)
    ))
}

/// Two digits: simulated numbers have no more.
fn rounded(width: f64) -> f64 {
    format!("{width:.1e}").parse().unwrap_or(width)
}

/// What was computed, in one sentence.
pub fn describe_statistic(statistic: &Statistic) -> String {
    match statistic {
        Statistic::Gram { .. } => "sums of products of two columns over the records".into(),
        Statistic::AveragedGram { averaged, .. } => format!(
            "sums of products over rows that are {averaged} records each (their sum over sqrt({averaged})), in table order"
        ),
        Statistic::AdaSsp { .. } => {
            "X'X, X'y and the smallest eigenvalue of X'X in weighted units (it may be negative), each \
                                     part with noise in proportion to its own sensitivity: for ada-ssp"
                .into()
        }
        Statistic::FourthMoments { .. } => {
            "sums of products of four of the constant and the features: to be used beside a Gram matrix"
                .into()
        }
    }
}

fn layout_name(plan: &Plan) -> &'static str {
    match plan.statistic().layout() {
        Layout::Isometric => "isometric",
        Layout::Upper => "upper",
    }
}

fn largest(plan: &Plan) -> f64 {
    plan.noise().scales.iter().copied().fold(0.0, f64::max)
}

/// What the ledger would say.
pub fn explain_preview(preview: &Preview) -> String {
    let budget = if preview.budget_would_be_set {
        "no budget is set: this release would set it to its own loss".to_string()
    } else {
        format!("the budget is {}", preview.budget)
    };
    let verdict = if preview.fits { "it fits" } else { "it does NOT fit" };
    format!(
        "ledger       {budget}; spent {} now, {} after this release: {verdict}\n",
        preview.spent_before, preview.spent_after
    )
}
