//! \[AYB23\]: distributed regression with MCMC.

use crate::reproduce::Experiment;

/// Experiments of the paper.
pub fn experiments() -> Vec<Box<dyn Experiment>> {
    Vec::new()
}
