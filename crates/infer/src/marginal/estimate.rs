//! A rough estimate of all parameters and of how well they are known, from pooled moments.
//!
//! Nothing here changes the target. Where the noise dwarfs the data the estimate is about the prior.

use super::frame::Frame;
use super::pooled::Pooled;
use super::root::Root;
use crate::linalg::{Cholesky, add_square, dot, invert_lower, matrix_vector, quadratic_form, symmetrise};
use crate::prior::FeaturePrior;
use crate::{InferError, Prior};

/// Coefficients and residual variance, and their precision.
struct Regression {
    theta: Vec<f64>,
    spread: Vec<f64>,
    log_variance: f64,
    log_variance_scale: f64,
}

/// The frame of the rough estimate.
pub(super) fn frame(pooled: &Pooled, prior: &Prior, features: &FeaturePrior) -> Result<Frame, InferError> {
    let (size, q) = (prior.dimension(), features.dimension());
    let offset = size - q;
    let root = Root::new(pooled, features, offset)?;
    let mut basis = vec![0.0; size * size];
    if offset == 1 {
        basis[0] = 1.0;
        (0..q).for_each(|k| basis[(k + 1) * size] = root.mean[k]);
    }
    for k in 0..q {
        let place = (k + offset) * size + offset;
        basis[place..place + q].copy_from_slice(&root.basis[k * q..(k + 1) * q]);
    }
    let mut regression = Regression::new(prior);
    // The noise on X'X matters in proportion to theta, so once more with a better theta.
    for _ in 0..3 {
        regression.update(pooled, prior, &basis)?;
    }
    let (scales, known) = scales(pooled, features, &root.inverse, offset);
    let (centre, spread) = regression.joint();
    // Where the noise of y'y is far beyond what the prior expects of sigma^2, the tail is the prior's.
    let (shape, rate) = prior.variance();
    let bent_above = pooled.response_noise < 10.0 * rate / shape;
    Ok(Frame { centre, spread, follow: vec![], basis, inverse: root.inverse, scales, known, bent_above })
}

impl Regression {
    fn new(prior: &Prior) -> Self {
        let theta = prior.mean().to_vec();
        let spread = vec![0.0; theta.len() * theta.len()];
        Self { theta, spread, log_variance: prior.log_variance_mode(), log_variance_scale: 1.0 }
    }

    /// Centre and spread of (theta, ln sigma^2).
    fn joint(&self) -> (Vec<f64>, Vec<f64>) {
        let size = self.theta.len();
        let mut centre = self.theta.clone();
        centre.push(self.log_variance);
        let mut spread = vec![0.0; (size + 1) * (size + 1)];
        for k in 0..size {
            spread[k * (size + 1)..][..size].copy_from_slice(&self.spread[k * size..(k + 1) * size]);
        }
        spread[size * (size + 2)] = self.log_variance_scale;
        (centre, spread)
    }

    /// X'y/n - S theta has covariance sigma^2 S / n + N, where N comes from the noise: a weighted regression of moments.
    fn update(&mut self, pooled: &Pooled, prior: &Prior, basis: &[f64]) -> Result<(), InferError> {
        let size = self.theta.len();
        let mut second = vec![0.0; size * size];
        add_square(1.0, basis, &mut second, size);
        symmetrise(&mut second, size);
        let covariance = self.residual_covariance(pooled, &second)?;
        let cross: Vec<f64> = (0..size).map(|k| pooled.moments[k * (size + 1) + size]).collect();
        let scale = prior.precision_factor(libm::exp(self.log_variance));
        let mut precision: Vec<f64> = prior.precision().iter().map(|value| value * scale).collect();
        let mut shift: Vec<f64> = prior.shift().iter().map(|value| value * scale).collect();
        for row in 0..size {
            let mut column = second[row * size..(row + 1) * size].to_vec();
            covariance.solve_lower(&mut column);
            covariance.solve_upper(&mut column);
            shift[row] += dot(&column, &cross);
            for k in 0..size {
                precision[row * size + k] += dot(&second[k * size..(k + 1) * size], &column);
            }
        }
        let precision = Cholesky::new(&precision, size)?;
        precision.solve_lower(&mut shift);
        precision.solve_upper(&mut shift);
        self.theta = shift;
        self.spread = transposed_inverse(&precision.lower, size);
        self.update_variance(pooled, prior, &second);
        Ok(())
    }

    fn residual_covariance(&self, pooled: &Pooled, second: &[f64]) -> Result<Cholesky, InferError> {
        let size = self.theta.len();
        // Without records the covariance is infinite and the data say nothing.
        let factor = libm::exp(self.log_variance) / pooled.records.max(1e-300);
        let mut covariance: Vec<f64> = second.iter().map(|value| value * factor).collect();
        let from_response = pooled.noise[size] + weighted_square(&self.theta, &pooled.noise);
        (0..size).for_each(|k| covariance[k * size + k] += 0.5 * pooled.noise[k] * from_response);
        Cholesky::new(&covariance, size)
    }

    fn update_variance(&mut self, pooled: &Pooled, prior: &Prior, second: &[f64]) {
        let size = self.theta.len();
        let (shape, rate) = prior.variance();
        let usual = rate / (shape + 1.0);
        let mut image = vec![0.0; size];
        matrix_vector(second, &self.theta, &mut image);
        let cross: f64 = (0..size).map(|k| pooled.moments[k * (size + 1) + size] * self.theta[k]).sum();
        let square = pooled.moments[pooled.moments.len() - 1];
        let found = square - 2.0 * cross + dot(&image, &self.theta);
        let noise = pooled.response_noise + weighted_square(&self.theta, &pooled.noise);
        let worth = |level: f64| 1.0 / (2.0 / pooled.records + (noise / level).powi(2));
        let records = worth(usual.max(found));
        let data = if records > 0.0 { records * found.max(0.5 * noise.min(usual)) } else { 0.0 };
        let variance = (rate + 0.5 * data) / (shape + 1.0 + 0.5 * records);
        self.log_variance = libm::log(variance);
        self.log_variance_scale = 1.0 / (shape + worth(variance)).sqrt();
    }
}

/// L^-T: the directions in which a normal vector of precision L L' has independent coordinates of variance 1.
pub(super) fn transposed_inverse(lower: &[f64], size: usize) -> Vec<f64> {
    let mut inverse = vec![0.0; size * size];
    invert_lower(lower, &mut inverse, size);
    (0..size * size).map(|k| inverse[k % size * size + k / size]).collect()
}

/// sum_k s_k theta_k^2.
fn weighted_square(theta: &[f64], noise: &[f64]) -> f64 {
    theta.iter().zip(noise).map(|(value, sd)| sd * value * value).sum()
}

/// Standard deviations of the sampled entries, roughly: by sampling, by noise and by the prior; and how many rows are known, that is,
/// known better from the data than from the prior.
pub(super) fn scales(
    pooled: &Pooled,
    features: &FeaturePrior,
    inverse: &[f64],
    offset: usize,
) -> (Vec<f64>, usize) {
    let (q, degrees) = (features.dimension(), features.degrees());
    let size = q + offset;
    // Noise of the diagonal in the coordinates of Z, and the prior's scale.
    let (mut noise, mut scale) = (vec![0.0; size], vec![features.mean_records(); size]);
    noise[0] = pooled.noise[0];
    for k in 0..q {
        let row = &inverse[k * q..(k + 1) * q];
        noise[k + offset] = weighted_square(row, &pooled.noise[offset..]);
        scale[k + offset] = quadratic_form(features.scale(), row);
    }
    let worth = |row: usize, column: usize| 1.0 / (1.0 / pooled.records + 0.5 * noise[row] * noise[column]);
    let known = (offset..size).take_while(|row| worth(*row, *row) >= degrees).count() + offset;
    let mut scales = vec![0.0; size * size];
    for row in offset..size {
        for column in 0..=row {
            let by_prior = match column {
                // Of a hidden row the diagonal has as many degrees as Bartlett's decomposition gives it.
                _ if column == row && row >= known => degrees - (size - 1 - row) as f64,
                _ if row >= known => scale[column],
                0 if offset == 1 => features.mean_records(),
                _ => degrees,
            };
            let precision = worth(row, column) + by_prior;
            scales[row * size + column] =
                if column == row { 0.5 / precision } else { 1.0 / precision }.sqrt();
        }
    }
    (scales, known)
}
