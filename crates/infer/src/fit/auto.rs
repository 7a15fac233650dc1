//! `auto`: which method, and why.

use crate::requirements::{accepted, check};
use crate::{Evidence, InferError, Method};

/// Beyond this many coefficients `marginal` has not been measured: 100 take minutes, more where noise and features are of one size.
const MOST_COEFFICIENTS: usize = 100;
/// Cost of a gradient is parties times cubed dimension; beyond this many operations closed forms are the better answer.
const MOST_WORK: f64 = 3e7;
/// The dense samplers need matrices of the number of entries.
const MOST_DENSE: usize = 20;

/// A method and the sentence that explains the choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The method.
    pub method: Method,
    /// Why, and what it assumes.
    pub reason: String,
}

/// The calibrated method that the releases allow: one that counts the noise in X'X too, if it can be afforded.
pub(crate) fn choose(evidence: &Evidence) -> Result<Choice, InferError> {
    let size = evidence.dimension();
    let work = evidence.parties() as f64 * (size as f64 + 1.0).powi(3);
    let affordable = size <= MOST_COEFFICIENTS && work <= MOST_WORK;
    let accepted = accepted(evidence);
    let has = |method: Method| accepted.contains(&method);
    let (method, reason) = if has(Method::Marginal) && affordable {
        (
            Method::Marginal,
            "counts the noise in every released sum and needs no latent variables; assumes that sums over records are normal"
                .to_string(),
        )
    } else if has(Method::NormalX) && affordable && evidence.parties() * size * size <= 20_000 {
        (
            Method::NormalX,
            "the noise is not isometric, so X'X is drawn with the coefficients; assumes normal features"
                .to_string(),
        )
    } else if has(Method::FixedGram) {
        let why = match (affordable, has(Method::Marginal)) {
            (false, true) => "the problem is large (marginal is there for those who can wait)",
            _ => "the releases state no number of records",
        };
        let reason =
            format!("{why}, so the noisy X'X is taken for the true one: intervals may be too narrow");
        (Method::FixedGram, reason)
    } else if has(Method::GibbsUpdate) && size <= MOST_DENSE {
        (
            Method::GibbsUpdate,
            "the noise is not gaussian, so latent sums are drawn with the coefficients; assumes that sums over records are normal"
                .to_string(),
        )
    } else {
        // Nothing fits: say what the nearest method lacks.
        check(Method::GibbsUpdate, evidence)?;
        let reason = format!(
            "laplace noise with more than {MOST_DENSE} coefficients is not practical: ask for --method gibbs-update"
        );
        return Err(InferError::Setting { field: "method", reason });
    };
    Ok(Choice { method, reason })
}
