//! From releases to a posterior. This crate cannot name a table: it does not depend on the curator.
//!
//! Releases become [`Evidence`]; a [`Prior`] completes the model; [`Fast`] gives the posterior of the coefficients in closed
//! form for a fixed residual variance, [`FixedGram`] integrates the variance out by quadrature. Both take the noisy X'X,
//! made positive semi-definite, for the true one.

mod cholesky;
mod eigen;
mod error;
mod evidence;
mod fast;
mod fixed_gram;
mod gaussian;
mod prior;

pub use eigen::{Eigen, symmetric_eigen};
pub use error::InferError;
pub use evidence::Evidence;
pub use fast::Fast;
pub use fixed_gram::FixedGram;
pub use gaussian::Gaussian;
pub use prior::Prior;
