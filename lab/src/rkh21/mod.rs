//! \[RKH21\]: chains that pay for every look at the records.

mod authors;
mod chains;
mod figure1;
mod figure1_report;
mod figure2;
mod figure3;
mod problem;
mod records;
mod threefry;

use crate::reproduce::Experiment;

/// Experiments of the paper.
pub fn experiments() -> Vec<Box<dyn Experiment>> {
    vec![
        Box::new(figure1::Figure1),
        Box::new(figure2::Figure2),
        Box::new(figure3::Figure3),
        Box::new(records::Records),
    ]
}
