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
pub(super) struct Density<T>(pub(super) T);

/// Storage of nuts-rs is not used.
impl<T: Gradient> HasDims for Density<T> {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        HashMap::from([("unconstrained_parameter".to_string(), self.0.dim() as u64)])
    }
}

impl<T: Gradient> CpuLogpFunc for Density<T> {
    type LogpError = NotFinite;
    type FlowParameters = ();
    type ExpandedVector = ();

    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn logp(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<f64, NotFinite> {
        let value = self.0.log_density_and_gradient(position, gradient);
        let finite = value.is_finite() && gradient.iter().all(|entry| entry.is_finite());
        finite.then_some(value).ok_or(NotFinite)
    }

    fn expand_vector<R: rand::Rng + ?Sized>(&mut self, _: &mut R, _: &[f64]) -> Result<(), CpuMathError> {
        Ok(())
    }
}
