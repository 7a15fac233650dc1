//! Helpers of the statistical tests: every verdict is a p-value or a confidence bound at [`ALPHA`].

pub mod attack;
pub mod audit;
pub mod binomial;
pub mod goodness;
pub mod models;

/// Error probability of a whole test, shared among its comparisons by Bonferroni.
pub const ALPHA: f64 = 1e-6;
