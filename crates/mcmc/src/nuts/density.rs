//! A target as nuts-rs wants it.

use std::collections::HashMap;

use nuts_rs::{CpuLogpFunc, CpuMathError, HasDims, LogpError};

use crate::Gradient;

/// The log density or its gradient is not finite; the path ends here as a divergence.
#[derive(Debug, thiserror::Error)]
#[error("the log density or its gradient is not finite")]
pub(super) struct NotFinite;

impl LogpError for NotFinite {
    fn is_recoverable(&self) -> bool {
        true
    }
}

/// A target that nuts-rs can ask.
pub(super) struct Density<T> {
    target: T,
    /// Whether the next gradient is to be a guess.
    guess: bool,
}

impl<T> Density<T> {
    pub(super) fn new(target: T) -> Self {
        Self { target, guess: false }
    }

    /// nuts-rs takes its first scales from the first gradient that it asks for, which it uses for nothing else. Here that is 1 in
    /// every coordinate, towards 0: every scale is then 1, and the centre is 0 if all coordinates of the start are 1 or -1.
    pub(super) fn near_normal(target: T) -> Self {
        Self { target, guess: true }
    }
}

/// Storage of nuts-rs is not used.
impl<T: Gradient> HasDims for Density<T> {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        HashMap::from([("unconstrained_parameter".to_string(), self.target.dim() as u64)])
    }
}

impl<T: Gradient> CpuLogpFunc for Density<T> {
    type LogpError = NotFinite;
    type FlowParameters = ();
    type ExpandedVector = ();

    fn dim(&self) -> usize {
        self.target.dim()
    }

    fn logp(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<f64, NotFinite> {
        let value = self.target.log_density_and_gradient(position, gradient);
        let finite = value.is_finite() && gradient.iter().all(|entry| entry.is_finite());
        if std::mem::take(&mut self.guess) {
            gradient.iter_mut().zip(position).for_each(|(slope, value)| *slope = -1f64.copysign(*value));
        }
        finite.then_some(value).ok_or(NotFinite)
    }

    fn expand_vector<R: rand::Rng + ?Sized>(&mut self, _: &mut R, _: &[f64]) -> Result<(), CpuMathError> {
        Ok(())
    }
}
