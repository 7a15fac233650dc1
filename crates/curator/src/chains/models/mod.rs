//! Models that can be sampled beside the data. Another one implements [`RecordModel`](super::RecordModel): see the example
//! `private_model` of this crate.

mod banana;
mod functions;
mod gaussian_mean;
mod normal_prior;
mod regression;

pub use banana::Banana;
pub use gaussian_mean::GaussianMean;
pub use normal_prior::NormalPrior;
pub use regression::{Linear, Logistic, Poisson, Regression, Response};
