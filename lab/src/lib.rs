//! The numbers of papers, computed anew: `organza reproduce`.
//!
//! An [`Experiment`](reproduce::Experiment) is a table or figure of a paper: cells (configurations), what one replicate of a cell
//! computes, and a report that compares the results with what was published. The machinery around it is written once, in
//! [`reproduce`]: seeds, shards, files that survive an interruption, verdicts, pages. [`metrics`] holds the measures of the papers,
//! [`plot`] draws, [`data`] reads the public data sets, [`releases`] makes releases with seeded noise.
//!
//!
//! [`calibration`] and [`frontier`] are simulations that a person asks for: is a method calibrated, and which epsilon is enough?
//! [`simulation`] makes tables with a known truth, [`strata`] tables from outside the model.
//!
//! **A new key** is a type that implements `Experiment` and `Study` in the folder of its paper, an entry in the list of that folder's `experiments`, a line in
//! `tests/keys.rs`, and its citations in `refs/`. Nothing else knows of it.
//!
//! **Seeded noise is for experiments only.** Releases made here protect nobody; the curator never takes a seed.

pub mod ayb23;
pub mod bs19;
pub mod calibration;
pub mod data;
pub mod frontier;
pub mod jagr22;
pub mod linalg;
pub mod metrics;
pub mod plot;
pub mod releases;
pub mod reproduce;
pub mod rkh21;
pub mod simulation;
pub mod strata;
mod study_error;

pub use study_error::StudyError;

/// Every experiment, in the order of the list that `organza reproduce` prints.
pub fn experiments() -> Vec<Box<dyn reproduce::Experiment>> {
    let papers = [ayb23::experiments(), bs19::experiments(), jagr22::experiments(), rkh21::experiments()];
    papers.into_iter().flatten().collect()
}
