//! \[AYB23\]: distributed regression with MCMC.

mod figure2;
mod figure2_report;
mod figure3;
mod figure4;
mod mechanism;
mod methods;
mod ours;
mod published;
mod scale;
mod simulate;
mod table1;
mod table1_report;

pub use scale::published_gaussian_scale;

use crate::reproduce::Experiment;

/// Experiments of the paper.
pub fn experiments() -> Vec<Box<dyn Experiment>> {
    vec![
        Box::new(table1::Table1),
        Box::new(figure2::Figure2),
        Box::new(figure3::Figure3),
        Box::new(figure4::Figure4),
    ]
}
