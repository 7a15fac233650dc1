//! Measures of the papers: errors, coverage, distances between samples and to a law.

mod binomial;
mod chi_square;
mod kolmogorov;
mod mean;
mod mmd;
mod quantiles;

pub use binomial::Binomial;
pub use chi_square::chi_square_tail;
pub use kolmogorov::{KolmogorovSmirnov, kolmogorov_smirnov, kolmogorov_smirnov_two};
pub use mean::{Estimate, coverage, geometric_mean, mean, mse};
pub use mmd::{Sample, Width, mmd, squared_mmd};
pub use quantiles::quantile_quantile;
