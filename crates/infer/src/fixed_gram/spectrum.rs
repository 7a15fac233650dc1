//! A party's X'X, made positive semi-definite and decomposed once: all that the methods with a fixed Gram matrix need.

use crate::evidence::Party;
use crate::judge::Accepted;
use crate::linalg::{Eigen, symmetric_eigen};

/// X'X and X'y in the eigenbasis of the nearest positive semi-definite X'X.
#[derive(Debug, Clone)]
pub(crate) struct Spectrum {
    /// Eigenvalues of S, cut at zero.
    pub values: Vec<f64>,
    /// S E' A: a row for every eigenvector, in theta's coordinates and times its eigenvalue.
    pub levers: Vec<f64>,
    /// E'z.
    pub rotated: Vec<f64>,
    /// Variance of the noise on each coordinate of z.
    pub noise_variance: f64,
    /// The residual variance in weighted units is this times the plain one.
    pub response_scale: f64,
}

impl Spectrum {
    /// All parties.
    pub fn of(evidence: Accepted<'_>) -> Vec<Self> {
        evidence.parties.iter().map(Self::new).collect()
    }

    /// The nearest positive semi-definite matrix is the maximum-likelihood estimate of X'X in the isometric layout
    /// (\[AYB23\] section 4.2 claims it for every layout).
    fn new(party: &Party) -> Self {
        let full = party.size();
        let size = full - 1;
        let gram: Vec<f64> = (0..size * size).map(|k| party.gram[k / size * full + k % size]).collect();
        let cross: Vec<f64> = (0..size).map(|k| party.gram[k * full + size]).collect();
        let Eigen { values, vectors } = symmetric_eigen(&gram, size);
        let weights = &party.noise.weights;
        let rotated = (0..size).map(|k| (0..size).map(|i| vectors[i * size + k] * cross[i]).sum()).collect();
        let values: Vec<f64> = values.into_iter().map(|value| value.max(0.0)).collect();
        let lever = |k: usize, i: usize| values[k] * vectors[i * size + k] * weights[size] / weights[i];
        let levers = (0..size * size).map(|place| lever(place / size, place % size)).collect();
        let noise_variance = party.noise.cross_scale().powi(2);
        Self { values, levers, rotated, noise_variance, response_scale: party.response_weight_squared() }
    }
}
