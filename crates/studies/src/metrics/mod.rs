//! What studies measure: means, coverage, uniformity of ranks, distance to a law.

mod binomial;
mod chi_square;
mod kolmogorov;
mod mean;

pub use binomial::Binomial;
pub use chi_square::chi_square_tail;
pub use kolmogorov::{KolmogorovSmirnov, kolmogorov_smirnov};
pub use mean::{Estimate, coverage, mean};
