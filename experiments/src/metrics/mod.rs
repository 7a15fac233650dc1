//! Measures of the papers: errors, coverage, distances between samples and to a law.

mod kolmogorov;
mod mean;
mod mmd;
mod quantiles;

pub use kolmogorov::{KolmogorovSmirnov, kolmogorov_smirnov, kolmogorov_smirnov_two};
pub use mean::{Estimate, coverage, geometric_mean, mean, mse};
pub use mmd::{Sample, Width, mmd, squared_mmd};
pub use quantiles::quantile_quantile;
