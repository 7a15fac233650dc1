//! What a person should know of a result, in words. Diagnostics of the chains speak for themselves.

use organza_mcmc::Summary;
use organza_release::units::CoefficientMap;

use super::share::Spread;
use super::units::mean_squared_factor;
use crate::noise_level::{NoiseLevel, hidden_shares};
use crate::{Evidence, Method, Prior};

/// Above this ratio of posterior to prior sd a coefficient was hardly informed.
const UNINFORMED: f64 = 0.95;
/// Above this ratio of widths with and without noise a person should know what would help, and above the other one that hardly anything was learnt.
const WIDE: (f64, f64) = (1.5, 15.0);
/// Below this mean weight of records the weights matter.
const LIGHT: f64 = 0.8;
/// Above this many latent records a step takes a good part of a second.
const MANY_RECORDS: f64 = 1e6;

/// Notes about the method and the result.
pub(crate) fn about(
    method: Method,
    evidence: &Evidence,
    prior: &Prior,
    (summary, spreads): (&Summary, &[Spread]),
) -> Vec<String> {
    let mut notes = Vec::new();
    if method == Method::Naive {
        notes.push(
            "naive ignores the privacy noise: its intervals are not honest; use it as a baseline only".into(),
        );
    }
    if let Some(records) = evidence.records()
        && method == Method::Augmentation
        && records > MANY_RECORDS
    {
        notes.push(format!(
            "{records} latent records: every step visits them all, and for so many the sums are normal; prefer marginal or gibbs-update"
        ));
    }
    if let Some(records) = evidence.records()
        && records < evidence.dimension() as f64
    {
        notes.push(format!(
            "{records} records for {} coefficients: the prior decides what the data cannot tell apart",
            evidence.dimension()
        ));
    }
    if matches!(method, Method::Fast | Method::FixedGram)
        && NoiseLevel::of(evidence) == NoiseLevel::Overwhelming
    {
        notes.push(format!(
            "the noise on X'X is as large as X'X itself, which {method} takes for the true one: its intervals are too narrow; \
             prefer marginal"
        ));
    }
    let weight = mean_squared_factor(evidence);
    if weight < LIGHT {
        notes.push(format!(
            "large records were scaled down before they were summed: this is a regression weighted by the squares of those factors, {weight:.2} on average; where \
             the truth is no line it differs from the unweighted one, which a larger record scale approaches"
        ));
    }
    // The default prior of `marginal` has no variance to compare with.
    let normal = method != Method::Marginal || !prior.given().coefficients.contains(&false);
    let uninformed = normal.then(|| uninformed(evidence, prior, summary)).flatten();
    if method == Method::Marginal {
        notes.extend(uninformed.or_else(|| wide(evidence, summary, spreads)));
    } else {
        notes.extend(hidden(method, evidence, summary));
        notes.extend(uninformed);
    }
    notes
}

/// How much wider privacy makes the intervals, and what would help.
///
/// The part of noise in a variance falls with the square of epsilon, and with that of the width of bounds.
fn wide(evidence: &Evidence, summary: &Summary, spreads: &[Spread]) -> Option<String> {
    let first = usize::from(evidence.domain().intercept() && spreads.len() > 1);
    let of = |spread: &Spread| spread.ratio();
    let widest = spreads[first..].iter().max_by(|one, other| of(one).total_cmp(&of(other)))?;
    let ratio = widest.ratio();
    if ratio < WIDE.0 {
        return None;
    }
    let lost = spreads.iter().zip(&summary.parameters).skip(first).filter(|(spread, _)| of(spread) > WIDE.1);
    let lost: Vec<&str> = lost.map(|(_, row)| row.name.as_str()).collect();
    if !lost.is_empty() {
        return Some(format!(
            "the releases say almost nothing of {}: intervals are up to {} times as wide as without privacy and about those of the prior; narrower bounds help \
             most, then fewer features, more records and a larger epsilon",
            lost.join(", "),
            rounded(ratio)
        ));
    }
    let [third, half] = [1.0 / 3.0, 0.5].map(|part| rounded(widest.ratio_with(part)));
    Some(format!(
        "intervals are up to {} times as wide as without privacy; three times the epsilon would make it about {third}, bounds half as wide about {half}",
        rounded(ratio)
    ))
}

/// Two digits.
fn rounded(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.1}") } else { format!("{ratio:.0}") }
}

/// Coefficients of features whose spread noise hides, so that the prior of the features decides on them.
fn hidden(method: Method, evidence: &Evidence, summary: &Summary) -> Option<String> {
    use Method::{Augmentation, GibbsPrior, GibbsUpdate, Individual, Marginal, NormalX};
    let describes_features =
        matches!(method, Marginal | NormalX | GibbsUpdate | GibbsPrior | Individual | Augmentation);
    if !describes_features || NoiseLevel::of(evidence) != NoiseLevel::Partial {
        return None;
    }
    let shares = hidden_shares(evidence);
    let largest = shares.iter().copied().fold(0.0, f64::max);
    let names: Vec<&str> = summary
        .parameters
        .iter()
        .zip(&shares)
        .filter(|(_, share)| **share > 0.5 * largest)
        .map(|(row, _)| row.name.as_str())
        .collect();
    Some(format!(
        "noise hides some directions of the features, mostly along {}: how much features vary there is up to their prior, which {method} has in units of the bounds, and so \
         are these intervals; prefer marginal, or see what `scale = 0.01` under [features] in a prior file changes",
        names.join(", ")
    ))
}

/// Coefficients whose posterior is about their prior.
fn uninformed(evidence: &Evidence, prior: &Prior, summary: &Summary) -> Option<String> {
    if prior.is_conjugate() {
        return None;
    }
    let size = evidence.dimension();
    let covariance = crate::linalg::Cholesky::new(prior.precision(), size).ok()?.inverse();
    let covariance = CoefficientMap::new(evidence.domain()).covariance_to_users(&covariance);
    let rows = summary.parameters.iter().take(size).enumerate();
    let names: Vec<&str> = rows
        .filter(|(k, row)| row.sd > UNINFORMED * covariance[k * size + k].sqrt())
        .map(|(_, row)| row.name.as_str())
        .collect();
    match names.len() {
        0 => None,
        count if count == size => Some(
            "the releases say almost nothing: privacy noise dwarfs the data and the posterior is about the prior".into(),
        ),
        _ => Some(format!("the releases say almost nothing of {}: its posterior is about its prior", names.join(", "))),
    }
}
