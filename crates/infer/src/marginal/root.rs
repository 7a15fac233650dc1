//! A square root of the covariance of the features, from pooled moments.

use super::pooled::Pooled;
use crate::InferError;
use crate::linalg::{Cholesky, EigenWorkspace, add_square, dot, invert_lower, rotate, symmetrise};
use crate::prior::FeaturePrior;

/// Logarithms of eigenvalues are tried from here on, relative to the prior, at this distance.
const LOWEST: f64 = -5.0;
const GRID: f64 = 0.05;

/// A root of the covariance of the features; matrices of those that vary.
pub(super) struct Root {
    /// Means; empty without a constant.
    pub mean: Vec<f64>,
    pub basis: Vec<f64>,
    /// The inverse of the basis.
    pub inverse: Vec<f64>,
}

impl Root {
    /// In coordinates in which the prior is the identity every eigenvalue of the data moves to where it is likeliest.
    pub fn new(pooled: &Pooled, features: &FeaturePrior, offset: usize) -> Result<Self, InferError> {
        let (q, degrees) = (features.dimension(), features.degrees());
        let usual: Vec<f64> = features.scale().iter().map(|value| value / degrees).collect();
        let mean = shrunk_mean(pooled, features, &usual);
        let basis = Cholesky::new(&usual, q)?.lower;
        if q == 0 {
            return Ok(Self { mean, basis, inverse: vec![] });
        }
        let mut inverse = vec![0.0; q * q];
        invert_lower(&basis, &mut inverse, q);
        let (mut white, mut scratch) = (vec![0.0; q * q], vec![0.0; q * q]);
        rotate(&inverse, &covariance(pooled, &mean, q), &mut white, &mut scratch, q);
        let mut eigen = EigenWorkspace::new(q);
        eigen.decompose(&white);
        let noise = (0..q).map(|k| pooled.noise[k + offset] / usual[k * q + k]).sum::<f64>() / q as f64;
        eigen.values.iter_mut().for_each(|value| *value = likeliest(*value, noise, pooled.records, degrees));
        let prior = Self { mean, basis, inverse };
        Ok(prior.along(&eigen, q))
    }

    /// Another root of F F', in whose coordinates the noise is independent: the eigenvectors in units of the noise, whose standard
    /// deviations on the diagonal are given.
    pub fn at(factor: &[f64], noise: &[f64]) -> Self {
        let q = noise.len();
        let unit = |k: usize| if noise[k] > 0.0 { noise[k].sqrt() } else { 1.0 };
        let diagonal = |value: &dyn Fn(usize) -> f64| -> Vec<f64> {
            (0..q * q).map(|place| if place % (q + 1) == 0 { value(place / q) } else { 0.0 }).collect()
        };
        let own = Self { mean: vec![], basis: diagonal(&unit), inverse: diagonal(&|k| 1.0 / unit(k)) };
        if q == 0 {
            return own;
        }
        let mut scaled = factor.to_vec();
        scaled
            .chunks_exact_mut(q)
            .enumerate()
            .for_each(|(k, row)| row.iter_mut().for_each(|v| *v /= unit(k)));
        let mut white = vec![0.0; q * q];
        add_square(1.0, &scaled, &mut white, q);
        symmetrise(&mut white, q);
        let mut eigen = EigenWorkspace::new(q);
        eigen.decompose(&white);
        own.along(&eigen, q)
    }

    /// The root with the directions of a decomposition in its own coordinates. The best known ones come first: given them
    /// the rest of a triangle varies least.
    fn along(self, eigen: &EigenWorkspace, q: usize) -> Self {
        let mut order: Vec<usize> = (0..q).collect();
        order.sort_by(|a, b| eigen.values[*b].total_cmp(&eigen.values[*a]));
        let (mut basis, mut inverse) = (vec![0.0; q * q], vec![0.0; q * q]);
        for (k, source) in order.into_iter().enumerate() {
            let length = eigen.values[source].sqrt();
            let vector = &eigen.rows[source * q..(source + 1) * q];
            for i in 0..q {
                basis[i * q + k] = length * dot(&self.basis[i * q..(i + 1) * q], vector);
                inverse[k * q + i] =
                    (0..q).map(|m| vector[m] * self.inverse[m * q + i]).sum::<f64>() / length;
            }
        }
        Self { mean: self.mean, basis, inverse }
    }
}

/// Second moments of the features less the products of their means.
fn covariance(pooled: &Pooled, mean: &[f64], q: usize) -> Vec<f64> {
    let full = pooled.noise.len();
    let offset = full - 1 - q;
    let entry = |k: usize| {
        let (row, column) = (k / q, k % q);
        let product = if offset == 1 { mean[row] * mean[column] } else { 0.0 };
        pooled.moments[(row + offset) * full + column + offset] - product
    };
    (0..q * q).map(entry).collect()
}

/// The likeliest value l of an eigenvalue that was found with this noise (a standard deviation), where the prior has
/// (kappa / 2)(ln l + 1 / l) against it. Noise may leave two peaks, one at what was found and one at the prior; the higher one counts.
fn likeliest(found: f64, noise: f64, records: f64, degrees: f64) -> f64 {
    let score = |log: f64| {
        let value = libm::exp(log);
        let variance = noise * noise + 2.0 * value * value / records.max(1e-300);
        -0.5 * ((found - value).powi(2) / variance + degrees * (log + 1.0 / value))
    };
    let peak = libm::log(found.max(1e-8));
    let (low, high) = (peak.min(LOWEST), peak.max(0.0) + 1.0);
    let steps = ((high - low) / GRID).ceil() as usize;
    let grid = (0..=steps).map(|k| low + GRID * k as f64).chain([peak]);
    let best = grid.max_by(|one, other| score(*one).total_cmp(&score(*other))).unwrap_or(0.0);
    let (mut left, mut right) = (best - GRID, best + GRID);
    for _ in 0..60 {
        let third = (right - left) / 3.0;
        match score(left + third) < score(right - third) {
            true => left += third,
            false => right -= third,
        }
    }
    libm::exp(0.5 * (left + right))
}

/// The mean of the features, drawn towards the prior by its noise; empty without a constant.
fn shrunk_mean(pooled: &Pooled, features: &FeaturePrior, usual: &[f64]) -> Vec<f64> {
    let q = features.dimension();
    let shrink = |(k, prior): (usize, &f64)| {
        let variance = usual[k * q + k] / features.mean_records();
        let noise = 0.5 * pooled.noise[0] * pooled.noise[k + 1] + usual[k * q + k] / pooled.records;
        prior + (pooled.moments[k + 1] - prior) * variance / (variance + noise)
    };
    features.mean().iter().enumerate().map(shrink).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches an eigenvalue that is drawn to the prior by the noise of all the others, and one that is not by its own.
    #[test]
    fn what_stands_out_of_its_own_noise_is_kept() {
        // 100 features, as many degrees; all eigenvalues 700 times those of the prior.
        assert!((likeliest(700.0, 11.0, 1e6, 101.0) - 690.0).abs() < 5.0);
        assert!((likeliest(100.0, 50.0, 1e6, 101.0) - 1.0).abs() < 0.1);
        assert!((likeliest(-300.0, 11.0, 1e6, 101.0) - 1.0).abs() < 0.1);
        // Without noise: as many records and as many degrees.
        assert!((likeliest(3.0, 0.0, 1e9, 10.0) - 3.0).abs() < 1e-6);
        assert!((likeliest(1e-4, 0.0, 1e9, 10.0) / 1e-4 - 1.0).abs() < 1e-3);
        assert!((likeliest(0.0, 1.0, 0.0, 10.0) - 1.0).abs() < 1e-6);
    }
}
