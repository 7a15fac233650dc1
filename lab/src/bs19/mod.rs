//! \[BS19\]: regression from noisy sums, one feature and a constant, Laplace noise.

mod cirrhosis;
mod figure3;
mod figure3_report;
mod figure3f;
mod figure4;
mod figure4_report;
mod methods;
mod problem;
mod simulate;

use crate::reproduce::Experiment;

/// Experiments of the paper.
pub fn experiments() -> Vec<Box<dyn Experiment>> {
    vec![Box::new(figure3::Figure3), Box::new(figure3f::Figure3f), Box::new(figure4::Figure4)]
}
