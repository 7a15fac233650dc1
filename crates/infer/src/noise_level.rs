//! How large the noise on the pooled X'X is beside X'X itself.

use crate::Evidence;
use crate::linalg::symmetric_eigen;
use crate::pooled::Pooled;

/// Where the eigenvalues of the pooled X'X lie beside what noise alone brings about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoiseLevel {
    /// All of them stand out.
    Low,
    /// Some do.
    Partial,
    /// None does: nothing can be seen of the features.
    Overwhelming,
}

impl NoiseLevel {
    /// The largest eigenvalue of a symmetric matrix of noise is about sqrt(2 d) times its scale; twice that stands out.
    pub fn of(evidence: &Evidence) -> Self {
        let size = evidence.dimension();
        let mut variance = 0.0;
        for party in &evidence.parties {
            let (weights, scales) = (&party.noise.weights, &party.noise.scales);
            let plain = |k: usize| scales[k * (size + 1) + k] / (weights[k] * weights[k]);
            variance += (0..size).map(plain).fold(0.0, f64::max).powi(2);
        }
        let edge = 2.0 * (2.0 * size as f64 * variance).sqrt();
        let values = symmetric_eigen(&Pooled::new(evidence).features(), size).values;
        match values.iter().filter(|value| **value >= edge).count() {
            0 => NoiseLevel::Overwhelming,
            count if count < size => NoiseLevel::Partial,
            _ => NoiseLevel::Low,
        }
    }
}
