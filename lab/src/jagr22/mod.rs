//! \[JAGR22\]: data augmentation over latent records.

mod figure1;
mod figure2;
mod log_linear;
mod regression;
mod table1;

use crate::reproduce::Experiment;

/// Experiments of the paper.
pub fn experiments() -> Vec<Box<dyn Experiment>> {
    vec![Box::new(figure1::Figure1), Box::new(table1::Table1), Box::new(figure2::Figure2)]
}
