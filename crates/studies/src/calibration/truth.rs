//! The truth, drawn from the prior that is the default of all methods but `marginal`, which is told.

use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, Gamma, StandardNormal};

use super::Study;
use crate::linalg::{cholesky, inverse};
use organza_infer::Prior;

/// Mean of a feature's variance under the default prior.
pub(super) const USUAL_VARIANCE: f64 = 0.1;

/// What the prior drew.
#[derive(Debug, Clone, PartialEq)]
pub struct Truth {
    /// Coefficients, the intercept first if there is one.
    pub theta: Vec<f64>,
    /// Residual variance.
    pub variance: f64,
    /// Covariance of the features, row-major.
    pub covariance: Vec<f64>,
    /// Mean of the features; zero without an intercept.
    pub mean: Vec<f64>,
}

impl Truth {
    /// Whether the means of features and response lie inside their bounds, with an intercept.
    pub(super) fn is_inside(&self) -> bool {
        let products = self.theta[1..].iter().zip(&self.mean).map(|(slope, mean)| slope * mean);
        let response = self.theta[0] + products.sum::<f64>();
        self.mean.iter().chain([&response]).all(|mean| mean.abs() < 1.0)
    }
}

pub(super) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

fn gamma(rng: &mut ChaCha8Rng, shape: f64) -> f64 {
    Gamma::new(shape, 1.0).map_or(f64::NAN, |law| law.sample(rng))
}

impl Study {
    /// From the prior theta ~ N(0, I), sigma^2 ~ IG(1, 0.005), Sigma_x ~ IW(0.1 I, d + 2), mu ~ N(0, Sigma_x).
    pub fn truth(&self, rng: &mut ChaCha8Rng) -> Truth {
        let covariance = self.covariance(rng);
        let lower = self.root(&covariance);
        let z: Vec<f64> = (0..self.features).map(|_| normal(rng)).collect();
        let mean = match self.intercept {
            true => product(&lower, &z),
            false => vec![0.0; self.features],
        };
        let theta = (0..self.size() - 1).map(|_| normal(rng)).collect();
        let (shape, rate) = Prior::WEAK_VARIANCE;
        Truth { theta, variance: rate / gamma(rng, shape), covariance, mean }
    }

    /// 0.1 W^-1 with W ~ Wishart(I, d + 2), by Bartlett's factor.
    fn covariance(&self, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let size = self.features;
        let mut factor = vec![0.0; size * size];
        for row in 0..size {
            (0..row).for_each(|column| factor[row * size + column] = normal(rng));
            factor[row * size + row] = (2.0 * gamma(rng, 0.5 * (size + 2 - row) as f64)).sqrt();
        }
        let entry = |k: usize| {
            let (row, column) = (k / size, k % size);
            (0..size).map(|j| factor[row * size + j] * factor[column * size + j]).sum()
        };
        let wishart: Vec<f64> = (0..size * size).map(entry).collect();
        let inverse = inverse(&wishart).unwrap_or_else(|| vec![f64::NAN; size * size]);
        // Both triangles alike, to the last bit.
        let half = |k: usize| inverse[k] + inverse[k % size * size + k / size];
        (0..size * size).map(|k| 0.5 * USUAL_VARIANCE * half(k)).collect()
    }

    /// The lower factor of a covariance of the features.
    pub(super) fn root(&self, covariance: &[f64]) -> Vec<f64> {
        cholesky(covariance).unwrap_or_else(|| vec![f64::NAN; covariance.len()])
    }
}

/// A square matrix times a vector.
pub(super) fn product(matrix: &[f64], vector: &[f64]) -> Vec<f64> {
    let row = |row: &[f64]| row.iter().zip(vector).map(|(a, b)| a * b).sum();
    matrix.chunks_exact(vector.len()).map(row).collect()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::metrics::kolmogorov_smirnov;

    /// The first diagonal entry of an inverse Wishart matrix of d features and d + 2 degrees is inverse gamma with shape 3/2 and rate 0.05,
    /// so 0.1 over it is chi-square with 3 degrees. Catches degrees that miss one, and a factor transposed: alpha = 1e-6 over both.
    #[test]
    fn covariances_have_the_law_of_the_prior() {
        let chi_square = |x: f64| {
            libm::erf((x / 2.0).sqrt()) - (2.0 * x / std::f64::consts::PI).sqrt() * libm::exp(-x / 2.0)
        };
        for features in [1, 3] {
            let mut rng = ChaCha8Rng::seed_from_u64(4);
            let study = Study::new(1, 1, features);
            for place in [0, features * features - 1] {
                let sample: Vec<f64> =
                    (0..4000).map(|_| 0.1 / study.truth(&mut rng).covariance[place]).collect();
                let found = kolmogorov_smirnov(&sample, chi_square);
                assert!(found.p_value > 1e-6 / 4.0, "{features} features, entry {place}: {found:?}");
            }
        }
    }
}
