//! The log density of the prior at a point, Jacobians included, and its gradient.
//!
//! Sigma_x = B Z Z' B' ~ IW(Lambda, kappa) makes Z Z' ~ IW(B^-1 Lambda B^-T, kappa), so only Z is needed. With q varying features and
//! k from 0, the Jacobian of Z -> Z Z' is prod z_kk^(q - k), that of the logarithms prod z_kk, the density has
//! |Z Z'|^(-(kappa + q + 1)/2): together prod z_kk^(-kappa - k). The mean is mu = mu-hat + B u, u the first column of Z.

use super::coordinates::Parameters;
use super::frame::Frame;
use crate::linalg::{Cholesky, invert_lower, matrix_vector, product, rotate};
use crate::prior::FeaturePrior;
use crate::{InferError, Prior};

/// The prior in the coordinates of the chain.
#[derive(Debug, Clone)]
pub(super) struct CoordinatePrior {
    prior: Prior,
    /// Varying features.
    features: usize,
    /// 1 if there is a constant before them.
    offset: usize,
    /// B^-1 Lambda B^-T.
    scale: Vec<f64>,
    /// k_0; 0 without a constant.
    mean_records: f64,
    /// B^-1 (mu-hat - mu_0).
    shift: Vec<f64>,
    /// Of the entries on the diagonal of Z.
    powers: Vec<f64>,
}

/// Memory for the prior; matrices of the varying features.
#[derive(Debug, Clone)]
pub(super) struct PriorSpace {
    triangle: Vec<f64>,
    inverse: Vec<f64>,
    scale: Vec<f64>,
    image: Vec<f64>,
    scratch: Vec<f64>,
    mean: Vec<f64>,
    deviation: Vec<f64>,
    slope: Vec<f64>,
}

impl PriorSpace {
    pub fn new(size: usize) -> Self {
        let (square, line) = (vec![0.0; size * size], vec![0.0; size]);
        Self {
            triangle: square.clone(),
            inverse: square.clone(),
            scale: square.clone(),
            image: square.clone(),
            scratch: square,
            mean: line.clone(),
            deviation: line.clone(),
            slope: line,
        }
    }
}

impl CoordinatePrior {
    pub fn new(prior: &Prior, features: &FeaturePrior, frame: &Frame) -> Result<Self, InferError> {
        let (all, q) = (prior.dimension(), features.dimension());
        let offset = all - q;
        let inverse = &frame.inverse;
        let mut scale = vec![0.0; q * q];
        if q > 0 {
            rotate(inverse, features.scale(), &mut scale, &mut vec![0.0; q * q], q);
        }
        let centred: Vec<f64> =
            features.mean().iter().enumerate().map(|(k, mean)| frame.basis[(k + 1) * all] - mean).collect();
        let mut shift = vec![0.0; q];
        if q > 0 && offset == 1 {
            matrix_vector(inverse, &centred, &mut shift);
        }
        let mean_records = if offset == 1 { features.mean_records() } else { 0.0 };
        // The scale is positive definite in any coordinates; a basis that is not would show here.
        Cholesky::new(&scale, q)?;
        let powers = powers(features.degrees(), offset, all, frame.known);
        Ok(Self { prior: prior.clone(), features: q, offset, scale, mean_records, shift, powers })
    }

    pub fn space(&self) -> PriorSpace {
        PriorSpace::new(self.features)
    }

    /// Log density up to a constant; adds its gradient. The gradient with respect to an entry z of the diagonal of Z is that of
    /// ln z, divided by z.
    pub fn add(&self, at: &mut Parameters, space: &mut PriorSpace) -> f64 {
        self.add_regression(at) + if self.features > 0 { self.add_features(at, space) } else { 0.0 }
    }

    fn add_regression(&self, at: &mut Parameters) -> f64 {
        let (shape, rate) = self.prior.variance();
        let factor = self.prior.precision_factor(at.variance);
        let (precision, mean) = (self.prior.precision(), self.prior.mean());
        let size = mean.len();
        let mut square = 0.0;
        for row in 0..size {
            let weights = &precision[row * size..(row + 1) * size];
            let pull: f64 =
                weights.iter().zip(&at.theta).zip(mean).map(|((w, value), m)| w * (value - m)).sum();
            square += pull * (at.theta[row] - mean[row]);
            at.theta_gradient[row] -= factor * pull;
        }
        at.log_variance_gradient += rate / at.variance - shape;
        let mut value = -0.5 * factor * square + self.prior.log_density_of_log_variance(at.log_variance);
        if self.prior.is_conjugate() {
            let half = 0.5 * size as f64;
            value -= half * at.log_variance;
            at.log_variance_gradient += 0.5 * factor * square - half;
        }
        value
    }

    /// tr(Lambda Sigma^-1) + k_0 |Sigma^(-1/2) (mu - mu_0)|^2 = tr(Z^-1 H Z^-T), H = B^-1 Lambda B^-T + k_0 u u'.
    fn add_features(&self, at: &mut Parameters, space: &mut PriorSpace) -> f64 {
        let (q, offset) = (self.features, self.offset);
        let all = q + offset;
        for row in 0..q {
            let from = &at.triangle[(row + offset) * all + offset..];
            space.triangle[row * q..(row + 1) * q].copy_from_slice(&from[..q]);
        }
        invert_lower(&space.triangle, &mut space.inverse, q);
        space.scale.copy_from_slice(&self.scale);
        if offset == 1 {
            for row in 0..q {
                space.mean[row] = at.triangle[(row + 1) * all] + self.shift[row];
            }
            for (row, target) in space.scale.chunks_exact_mut(q).enumerate() {
                let factor = self.mean_records * space.mean[row];
                target.iter_mut().zip(&space.mean).for_each(|(sum, value)| *sum += factor * value);
            }
            self.add_mean_gradient(at, space);
        }
        rotate(&space.inverse, &space.scale, &mut space.image, &mut space.scratch, q);
        let trace: f64 = (0..q).map(|k| space.image[k * q + k]).sum();
        // d(-tr/2)/dZ = Z^-T (Z^-1 H Z^-T).
        product(&space.inverse, true, &space.image, &mut space.scratch, q);
        let mut value = -0.5 * trace;
        for row in 0..q {
            let place = (row + offset) * all + offset;
            let target = &mut at.triangle_gradient[place..=place + row];
            target.iter_mut().zip(&space.scratch[row * q..]).for_each(|(sum, slope)| *sum += slope);
            let power = self.powers[row];
            let diagonal = at.triangle[place + row];
            value += power * libm::log(diagonal);
            target[row] += power / diagonal;
        }
        value
    }

    /// The gradient with respect to u: -k_0 Z^-T Z^-1 u.
    fn add_mean_gradient(&self, at: &mut Parameters, space: &mut PriorSpace) {
        let q = self.features;
        matrix_vector(&space.inverse, &space.mean, &mut space.deviation);
        space.slope.fill(0.0);
        for (row, value) in space.inverse.chunks_exact(q).zip(&space.deviation) {
            space.slope.iter_mut().zip(row).for_each(|(sum, entry)| *sum += value * entry);
        }
        for (row, slope) in space.slope.iter().enumerate() {
            at.triangle_gradient[(row + 1) * (q + 1)] -= self.mean_records * slope;
        }
    }
}

/// The powers of the diagonal of Z, from the prior and from all Jacobians: -kappa - k, k counting from 0 with a constant at 0; for a hidden
/// row its own place more, and 1 more for every hidden row below.
fn powers(degrees: f64, offset: usize, size: usize, known: usize) -> Vec<f64> {
    let power = |row: usize| {
        let own = if row >= known { row } else { 0 };
        let below = size - known.max(row + 1);
        own as f64 + below as f64 - degrees - row as f64
    };
    (offset..size).map(power).collect()
}
