//! How large the noise on the pooled X'X is beside X'X itself.

use crate::Evidence;
use crate::linalg::{Eigen, symmetric_eigen};
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
    pub fn of(evidence: &Evidence) -> Self {
        let (eigen, edge) = spectrum(evidence);
        match eigen.values.iter().filter(|value| **value >= edge).count() {
            0 => NoiseLevel::Overwhelming,
            count if count < evidence.dimension() => NoiseLevel::Partial,
            _ => NoiseLevel::Low,
        }
    }
}

/// Of every coefficient, the squared cosine between its axis and the directions that do not stand out.
pub(crate) fn hidden_shares(evidence: &Evidence) -> Vec<f64> {
    let (eigen, edge) = spectrum(evidence);
    let share = |row: &[f64]| {
        let loadings = row.iter().zip(&eigen.values).filter(|(_, value)| **value < edge);
        loadings.map(|(loading, _)| loading * loading).sum()
    };
    eigen.vectors.chunks_exact(evidence.dimension()).map(share).collect()
}

/// Eigenvalues of the pooled X'X, and the edge beyond which they stand out: the largest of a symmetric matrix of noise is about sqrt(2 d) times its
/// scale, and twice that stands out.
fn spectrum(evidence: &Evidence) -> (Eigen, f64) {
    let size = evidence.dimension();
    let mut variance = 0.0;
    for party in &evidence.parties {
        let (weights, scales) = (&party.noise.weights, &party.noise.scales);
        let plain = |k: usize| scales[k * (size + 1) + k] / (weights[k] * weights[k]);
        variance += (0..size).map(plain).fold(0.0, f64::max).powi(2);
    }
    let edge = 2.0 * (2.0 * size as f64 * variance).sqrt();
    (symmetric_eigen(&Pooled::new(evidence).features(), size), edge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use organza_release::testing::{published_evenly, unit_ball};
    use organza_release::{Family, Layout};

    /// Three features, the first two collinear but for a thousandth of their variance, and noise with this scale.
    fn collinear(scale: f64) -> Evidence {
        let domain = unit_ball(&["one", "other", "third"], 1.0);
        let rows = [
            [300.0, 299.7, 0.0, 30.0],
            [299.7, 300.0, 0.0, 30.0],
            [0.0, 0.0, 300.0, 0.0],
            [30.0, 30.0, 0.0, 50.0],
        ];
        let what = (Layout::Isometric, 1000);
        let release = published_evenly("a", &domain, what, &rows.concat(), (Family::Gaussian, scale));
        Evidence::new(&[release]).unwrap()
    }

    #[test]
    fn noise_hides_the_difference_of_collinear_features() {
        assert_eq!(NoiseLevel::of(&collinear(1e-3)), NoiseLevel::Low);
        assert!(hidden_shares(&collinear(1e-3)).iter().all(|share| *share == 0.0));
        assert_eq!(NoiseLevel::of(&collinear(5.0)), NoiseLevel::Partial);
        for (share, expected) in hidden_shares(&collinear(5.0)).iter().zip([0.5, 0.5, 0.0]) {
            assert!((share - expected).abs() < 1e-9, "{share} instead of {expected}");
        }
        assert_eq!(NoiseLevel::of(&collinear(1e3)), NoiseLevel::Overwhelming);
        for share in hidden_shares(&collinear(1e3)) {
            assert!((share - 1.0).abs() < 1e-9, "{share}");
        }
    }
}
