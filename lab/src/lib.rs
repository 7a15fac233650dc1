//! The laboratory: what a researcher checks. Not published, and no part of the `organza` command.
//!
//! **The numbers of papers, computed anew** (`organza-lab reproduce`). An [`Experiment`](reproduce::Experiment) is a table or figure of a
//! paper: cells (configurations), what one replicate of a cell computes, and a report that compares the results with what was published.
//! The machinery around it is written once, in [`reproduce`]: seeds, shards, files that survive an interruption, verdicts, pages.
//! [`metrics`] holds the measures of the papers, [`data`] reads the public data sets.
//!
//! **What chose the defaults** (`organza-lab defaults`) is in [`defaults`], honesty and speed of every method (`organza-lab methods`) in
//! [`methods`]; [`strata`] makes tables from outside the model.
//!
//! **A new key** is a type that implements `Experiment` and `Study` in the folder of its paper, an entry in the list of that folder's
//! `experiments`, a line in `tests/keys.rs`, and its citations in `refs/`. Nothing else knows of it.

pub mod ayb23;
pub mod bs19;
pub mod data;
pub mod defaults;
pub mod jagr22;
pub mod linalg;
pub mod methods;
pub mod metrics;
pub mod reproduce;
pub mod rkh21;
pub mod strata;

/// Every experiment, in the order of the list that `organza-lab reproduce` prints.
pub fn experiments() -> Vec<Box<dyn reproduce::Experiment>> {
    let papers = [ayb23::experiments(), bs19::experiments(), jagr22::experiments(), rkh21::experiments()];
    papers.into_iter().flatten().collect()
}
