//! What can go wrong in the arithmetic of losses: an argument out of range, or a question without an answer.

/// An error of the loss arithmetic. Nothing here depends on data, so every message may be shown to anyone.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LossError {
    /// An argument is outside the range in which the question has a meaning.
    #[error("{argument} = {value}: it must be {requirement}")]
    Argument {
        /// The name of the argument.
        argument: &'static str,
        /// The value that was given.
        value: f64,
        /// The range that is accepted, in words.
        requirement: &'static str,
    },
    /// The answer is larger than the largest double.
    #[error("{quantity} is too large to be represented; add more noise")]
    Overflow {
        /// The name of the quantity that was asked for.
        quantity: &'static str,
    },
    /// No epsilon, however large, holds at this delta.
    #[error("no epsilon holds at delta = {delta}: these mechanisms need a delta above {least}")]
    DeltaTooSmall {
        /// The delta that was asked for.
        delta: f64,
        /// The infimum of the deltas that have an epsilon.
        least: f64,
    },
    /// Steps that protect against different neighbours have no common loss.
    #[error(
        "the steps are accounted for different neighbours; account all of them for substitute or all for add-remove"
    )]
    MixedNeighbours,
}

/// Accepts `value` if it is finite and positive.
pub(super) fn positive(argument: &'static str, value: f64) -> Result<f64, LossError> {
    let accepted = value.is_finite() && value > 0.0;
    accepted.then_some(value).ok_or(LossError::Argument {
        argument,
        value,
        requirement: "finite and positive",
    })
}

/// Accepts `value` if it is finite and not negative.
pub(super) fn not_negative(argument: &'static str, value: f64) -> Result<f64, LossError> {
    let accepted = value.is_finite() && value >= 0.0;
    accepted.then_some(value).ok_or(LossError::Argument {
        argument,
        value,
        requirement: "finite and at least 0",
    })
}

/// Accepts `value` if it lies strictly between 0 and 1.
pub(super) fn inside_unit_interval(argument: &'static str, value: f64) -> Result<f64, LossError> {
    let accepted = value > 0.0 && value < 1.0;
    accepted.then_some(value).ok_or(LossError::Argument {
        argument,
        value,
        requirement: "strictly between 0 and 1",
    })
}

/// Accepts `value` if it lies in [0, 1).
pub(super) fn below_one(argument: &'static str, value: f64) -> Result<f64, LossError> {
    let accepted = (0.0..1.0).contains(&value);
    accepted.then_some(value).ok_or(LossError::Argument {
        argument,
        value,
        requirement: "at least 0 and below 1",
    })
}

/// Accepts `value` if it did not overflow.
pub(super) fn representable(quantity: &'static str, value: f64) -> Result<f64, LossError> {
    value.is_finite().then_some(value).ok_or(LossError::Overflow { quantity })
}
