//! `auto`: which method, and why.

use crate::{Evidence, InferError, Method, judge};

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
    let affordable = evidence.dimension() <= MOST_COEFFICIENTS;
    let lacks = Method::Marginal.lacks(evidence);
    if (lacks.is_some() || !affordable) && Method::FixedGram.lacks(evidence).is_none() {
        let why = lacks
            .map_or("the problem is large (marginal is there for those who can wait)".into(), |needs| {
                format!("marginal needs {needs}")
            });
        let reason =
            format!("{why}, so the noisy X'X is taken for the true one: intervals may be too narrow");
        return Ok(Choice { method: Method::FixedGram, reason });
    }
    // Where nothing fits the error says what is missing.
    judge::accept(Method::Marginal, evidence)?;
    let reason = "counts the noise in every released sum and needs no latent records; assumes that sums over records are normal";
    Ok(Choice { method: Method::Marginal, reason: reason.into() })
}
