//! Measures of the papers: errors, coverage, distances between samples and to a law.

mod errors;
mod mmd;

pub use errors::{geometric_mean, mse};
pub use mmd::{Sample, Width, mmd, squared_mmd};
pub use organza_studies::metrics::{Estimate, KolmogorovSmirnov, coverage, kolmogorov_smirnov, mean};
