//! The law of one record, of which only the first two moments of w w' are used. \[BS19\] Eq. (2) and
//! \[BS19\] Eq. (3).

use organza_mcmc::ChainRng;

use super::features::FeatureLaw;
use super::fourth::FourthRecord;
use super::normal::NormalRecord;

/// Normal features, or features of which the fourth moments are given.
#[derive(Debug, Clone)]
pub(super) enum RecordLaw {
    Normal(NormalRecord),
    Fourth(FourthRecord),
}

impl RecordLaw {
    /// Takes new parameters.
    pub fn set(&mut self, theta: &[f64], variance: f64, features: &FeatureLaw) {
        match self {
            Self::Normal(record) => record.set(theta, variance, features),
            Self::Fourth(record) => record.set(theta, variance),
        }
    }

    /// E[w w'], row-major: mu_t as a matrix.
    pub fn second(&self) -> &[f64] {
        match self {
            Self::Normal(record) => &record.second,
            Self::Fourth(record) => &record.second,
        }
    }

    /// Draws a symmetric matrix with mean zero and the covariance of w w'.
    pub fn fluctuate(&mut self, rng: &mut ChainRng, out: &mut [f64]) {
        match self {
            Self::Normal(record) => record.fluctuate(rng, out),
            Self::Fourth(record) => record.fluctuate(rng, out),
        }
    }

    /// Sigma_t v for a vector v over the upper triangle, given as the symmetric matrix with half of it beside the diagonal.
    pub fn apply(&mut self, dual: &[f64], out: &mut [f64]) {
        match self {
            Self::Normal(record) => record.apply(dual, out),
            Self::Fourth(record) => record.apply(dual, out),
        }
    }

    /// The lower triangle of `factor` Sigma_t.
    pub fn covariance(&mut self, factor: f64, out: &mut [f64]) {
        match self {
            Self::Normal(record) => record.covariance(factor, out),
            Self::Fourth(record) => record.covariance(factor, out),
        }
    }
}
