//! What a person should know of a result, in words. Diagnostics of the chains speak for themselves.

use organza_mcmc::Summary;
use organza_release::units::CoefficientMap;

use crate::noise_level::{NoiseLevel, hidden_shares};
use crate::{Evidence, Method, Prior};

/// Above this ratio of posterior to prior sd a coefficient was hardly informed.
const UNINFORMED: f64 = 0.95;
/// Above this many latent records a step takes a good part of a second.
const MANY_RECORDS: f64 = 1e6;

/// Notes about the method and the result.
pub(crate) fn about(method: Method, evidence: &Evidence, prior: &Prior, summary: &Summary) -> Vec<String> {
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
    notes.extend(hidden(method, evidence, summary));
    notes.extend(uninformed(evidence, prior, summary));
    notes
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
        "noise hides some directions of the features, mostly along {}: how much features vary there is up to their prior, and so are these intervals; \
         a prior with a smaller scale under [features] shows by how much",
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
