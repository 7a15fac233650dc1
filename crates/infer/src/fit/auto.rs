//! `auto`: which method, and why.

use crate::requirements::{accepted, check};
use crate::{Evidence, InferError, Method};

/// Beyond this many coefficients `marginal` has not been measured: 100 take minutes, more where noise and features are of one size.
const MOST_COEFFICIENTS: usize = 100;

/// A method and the sentence that explains the choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The method.
    pub method: Method,
    /// Why, and what it assumes.
    pub reason: String,
}

/// The calibrated method that the releases allow: one that counts the noise in X'X too, if it can be afforded. Methods whose prior knows the bounds are not chosen.
pub(crate) fn choose(evidence: &Evidence) -> Result<Choice, InferError> {
    let accepted = accepted(evidence);
    let has = |method: Method| accepted.contains(&method);
    let affordable = evidence.dimension() <= MOST_COEFFICIENTS;
    if has(Method::Marginal) && affordable {
        let reason = "counts the noise in every released sum and needs no latent records; assumes that sums over records are normal";
        return Ok(Choice { method: Method::Marginal, reason: reason.into() });
    }
    if has(Method::FixedGram) {
        let why = match has(Method::Marginal) {
            true => "the problem is large (marginal is there for those who can wait)",
            false => "the releases state no number of records",
        };
        let reason =
            format!("{why}, so the noisy X'X is taken for the true one: intervals may be too narrow");
        return Ok(Choice { method: Method::FixedGram, reason });
    }
    // Nothing fits: say what is missing.
    check(Method::Marginal, evidence)?;
    let reason = format!("laplace noise with more than {MOST_COEFFICIENTS} coefficients is not practical");
    Err(InferError::Setting { field: "method", reason })
}
