//! How much of the posterior variance is due to privacy noise.
//!
//! The same values are fitted again as if they held no noise; one minus the ratio of the variances is the share of the noise.

use organza_mcmc::Summary;
use organza_release::units::CoefficientMap;

use crate::fast::Conditional;
use crate::fixed_gram::Spectrum;
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
        Method::Fast => {
            Conditional::new(&Spectrum::without_noise(evidence)?, prior, fast.variance).posterior()?
        }
        method if complete && evidence.records().is_some() && !ignores_response_square(method) => {
            Naive::posterior(evidence, prior)?.coefficients()
        }
        _ => FixedGram::of_spectra(&Spectrum::without_noise(evidence)?, prior)?.coefficients(),
    };
    let quiet = quiet.to_users(&CoefficientMap::new(evidence.domain()));
    let rows = summary.parameters.iter().take(evidence.dimension()).enumerate();
    Ok(rows.map(|(k, row)| (1.0 - (quiet.sd(k) / row.sd).powi(2)).clamp(0.0, 1.0)).collect())
}

/// Methods that learn of the residual variance from X'y alone.
fn ignores_response_square(method: Method) -> bool {
    matches!(method, Method::FixedGram | Method::NormalX)
}
