//! \[AYB23\]: distributed regression with MCMC.

mod mechanism;
mod methods;
mod ours;
mod published;
mod scale;
mod table1;
mod table1_report;

pub use scale::published_gaussian_scale;

use crate::reproduce::Experiment;

/// Experiments of the paper.
pub fn experiments() -> Vec<Box<dyn Experiment>> {
    vec![Box::new(table1::Table1)]
}
