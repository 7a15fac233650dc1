//! How much of the posterior variance is due to privacy noise.
//!
//! The same values are fitted again as if they held no noise; one minus the ratio of the variances is the share of the noise.

use organza_mcmc::Summary;
use organza_release::units::CoefficientMap;

use crate::{Evidence, Fast, FixedGram, InferError, Method, Naive, Prior};

/// The share for every coefficient, between 0 and 1.
pub(crate) fn of_noise(
    method: Method,
    evidence: &Evidence,
    prior: &Prior,
    (summary, fast): (&Summary, &Fast),
) -> Result<Vec<f64>, InferError> {
    let complete = evidence.parties.iter().all(|party| party.noise.has_response_square());
    let quiet = match method {
        Method::Fast => fast.posterior(&evidence.without_noise(), prior)?,
        Method::FixedGram | Method::NormalX => {
            FixedGram::new(&evidence.without_noise(), prior)?.coefficients()?
        }
        _ if complete && evidence.records().is_some() => Naive::posterior(evidence, prior)?.coefficients()?,
        _ => FixedGram::new(&evidence.without_noise(), prior)?.coefficients()?,
    };
    let quiet = quiet.to_users(&CoefficientMap::new(evidence.domain()));
    let rows = summary.parameters.iter().take(evidence.dimension()).enumerate();
    Ok(rows.map(|(k, row)| (1.0 - (quiet.sd(k) / row.sd).powi(2)).clamp(0.0, 1.0)).collect())
}
