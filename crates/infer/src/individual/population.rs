//! The latent records given the residual variance alone: coefficients and moments of the features integrated out.
//!
//! With the conjugate parts of the prior both integrals are closed forms of the Gram matrix W of all latent records (1, x, y). With
//! X the regressors, P = C^-1 + X'X/sigma^2 and h = C^-1 m + X'y/sigma^2 (C times sigma^2 if the prior is conjugate), theta given the
//! records is N(P^-1 h, P^-1); with N records Sigma_x is IW(Psi, kappa + N), where
//! Psi = Lambda + sum x x' + k_0 mu_0 mu_0' - (k_0 mu_0 + sum x)(k_0 mu_0 + sum x)'/(k_0 + N).

use organza_mcmc::ChainRng;

use crate::linalg::{
    dot, factorise, invert_lower, log_determinant, matrix_vector, quadratic_form, solve_lower_transposed,
    transpose_multiply,
};
use crate::prior::FeaturePrior;
use crate::random::{InverseWishart, fill_normal};
use crate::{InferError, Prior};

/// The law of the records.
#[derive(Debug, Clone)]
pub(super) struct Population {
    prior: Prior,
    features: FeaturePrior,
    /// C^-1 m and m'C^-1 m.
    shift: Vec<f64>,
    mean_norm: f64,
    /// 1 if the first regressor is the constant.
    offset: usize,
    /// N.
    records: f64,
}

/// Memory; matrices of the regressors or of the features.
#[derive(Debug, Clone)]
pub(super) struct PopulationSpace {
    /// W, symmetric.
    pub gram: Vec<f64>,
    /// The gradient with respect to W, symmetric.
    pub gradient: Vec<f64>,
    /// The gradient with respect to ln sigma^2.
    pub log_variance_gradient: f64,
    precision: Vec<f64>,
    lower: Vec<f64>,
    covariance: Vec<f64>,
    second: Vec<f64>,
    theta: Vec<f64>,
    right: Vec<f64>,
    psi: Vec<f64>,
    psi_lower: Vec<f64>,
    psi_inverse: Vec<f64>,
    anchor: Vec<f64>,
    image: Vec<f64>,
    sigma: Vec<f64>,
    wishart: InverseWishart,
}

impl Population {
    pub fn new(prior: &Prior, features: FeaturePrior, offset: usize, records: f64) -> Self {
        let (shift, mean_norm) = (prior.shift(), prior.mean_norm());
        Self { prior: prior.clone(), features, shift, mean_norm, offset, records }
    }

    pub fn space(&self) -> PopulationSpace {
        let (all, q) = (self.prior.dimension(), self.features.dimension());
        let (line, square) = (vec![0.0; all], vec![0.0; all * all]);
        let whole = vec![0.0; (all + 1) * (all + 1)];
        PopulationSpace {
            gram: whole.clone(),
            gradient: whole,
            log_variance_gradient: 0.0,
            precision: square.clone(),
            lower: square.clone(),
            covariance: square.clone(),
            second: square,
            theta: line.clone(),
            right: line.clone(),
            psi: vec![0.0; q * q],
            psi_lower: vec![0.0; q * q],
            psi_inverse: vec![0.0; q * q],
            anchor: vec![0.0; q],
            image: vec![0.0; q],
            sigma: vec![0.0; q * q],
            wishart: InverseWishart::new(q),
        }
    }

    /// Log density of the records whose Gram matrix is in the space and of ln sigma^2, with gradients.
    pub fn evaluate(&self, variance: f64, space: &mut PopulationSpace) -> f64 {
        let log_variance = libm::log(variance);
        let (shape, rate) = self.prior.variance();
        space.log_variance_gradient = rate / variance - shape;
        let response = self.add_response(variance, log_variance, space);
        let features = if self.features.dimension() > 0 { self.add_features(space) } else { Some(0.0) };
        match (response, features) {
            (Some(response), Some(features)) => {
                response + features + self.prior.log_density_of_log_variance(log_variance)
            }
            _ => f64::NEG_INFINITY,
        }
    }

    /// P, its factor and inverse, and the mean of theta; false if P is not positive definite.
    fn regress(&self, variance: f64, space: &mut PopulationSpace) -> bool {
        let size = self.prior.dimension();
        let factor = self.prior.precision_factor(variance);
        for row in 0..size {
            let gram = &space.gram[row * (size + 1)..(row + 1) * (size + 1)];
            for (column, sum) in gram[..size].iter().enumerate() {
                let place = row * size + column;
                space.second[place] = sum / variance;
                space.precision[place] = factor * self.prior.precision()[place] + space.second[place];
            }
            space.right[row] = factor * self.shift[row] + gram[size] / variance;
        }
        space.lower.copy_from_slice(&space.precision);
        if factorise(&mut space.lower, size).is_err() {
            return false;
        }
        // P^-1 = L^-T L^-1; the precision is no longer needed.
        invert_lower(&space.lower, &mut space.precision, size);
        transpose_multiply(&space.precision, &space.precision, &mut space.covariance, size);
        matrix_vector(&space.covariance, &space.right, &mut space.theta);
        true
    }

    /// ln N(y; X m, sigma^2 I + X C X').
    fn add_response(&self, variance: f64, log_variance: f64, space: &mut PopulationSpace) -> Option<f64> {
        if !self.regress(variance, space) {
            return None;
        }
        let size = self.prior.dimension();
        let factor = self.prior.precision_factor(variance);
        let response_square = space.gram[size * (size + 2)];
        let per_variance = 0.5 / variance;
        for row in 0..size {
            for column in 0..size {
                let place = row * size + column;
                let square = space.covariance[place] + space.theta[row] * space.theta[column];
                space.gradient[row * (size + 1) + column] = -per_variance * square;
            }
            space.gradient[row * (size + 1) + size] = per_variance * space.theta[row];
            space.gradient[size * (size + 1) + row] = per_variance * space.theta[row];
        }
        space.gradient[size * (size + 2)] = -per_variance;
        let explained = dot(&space.right, &space.theta);
        let square = response_square / variance + factor * self.mean_norm - explained;
        let mut value = -0.5 * (self.records * log_variance + log_determinant(&space.lower, size) + square);
        // The mean square of the residuals over theta, in units of sigma^2.
        let cross: f64 = (0..size).map(|k| space.theta[k] * space.gram[k * (size + 1) + size]).sum();
        let residual = (response_square - 2.0 * cross) / variance
            + quadratic_form(&space.second, &space.theta)
            + dot(&space.covariance, &space.second);
        space.log_variance_gradient += 0.5 * (residual - self.records);
        if self.prior.is_conjugate() {
            let precision = self.prior.precision();
            let deviation = quadratic_form(precision, &space.theta) - 2.0 * dot(&self.shift, &space.theta)
                + self.mean_norm
                + dot(&space.covariance, precision);
            space.log_variance_gradient += 0.5 * (factor * deviation - size as f64);
            value -= 0.5 * size as f64 * log_variance;
        }
        Some(value)
    }

    /// Psi and its factor; false if it is not positive definite.
    fn scatter(&self, space: &mut PopulationSpace) -> bool {
        let (q, whole, features) = (self.features.dimension(), self.prior.dimension() + 1, &self.features);
        let (worth, mean) = (features.mean_records(), features.mean());
        for row in 0..q {
            if self.offset == 1 {
                space.anchor[row] = worth * mean[row] + space.gram[row + 1];
            }
            for column in 0..=row {
                let sum = space.gram[(row + self.offset) * whole + column + self.offset];
                let mut value = features.scale()[row * q + column] + sum;
                if self.offset == 1 {
                    value += worth * mean[row] * mean[column]
                        - space.anchor[row] * space.anchor[column] / (worth + self.records);
                }
                space.psi[row * q + column] = value;
                space.psi[column * q + row] = value;
            }
        }
        space.psi_lower.copy_from_slice(&space.psi);
        factorise(&mut space.psi_lower, q).is_ok()
    }

    /// -(kappa + N)/2 ln |Psi|.
    fn add_features(&self, space: &mut PopulationSpace) -> Option<f64> {
        if !self.scatter(space) {
            return None;
        }
        let (q, whole) = (self.features.dimension(), self.prior.dimension() + 1);
        let half = 0.5 * (self.features.degrees() + self.records);
        invert_lower(&space.psi_lower, &mut space.sigma, q);
        transpose_multiply(&space.sigma, &space.sigma, &mut space.psi_inverse, q);
        for row in 0..q {
            for column in 0..q {
                let place = (row + self.offset) * whole + column + self.offset;
                space.gradient[place] -= half * space.psi_inverse[row * q + column];
            }
        }
        if self.offset == 1 {
            matrix_vector(&space.psi_inverse, &space.anchor, &mut space.image);
            let factor = half / (self.features.mean_records() + self.records);
            for (k, value) in space.image.iter().enumerate() {
                space.gradient[k + 1] += factor * value;
                space.gradient[(k + 1) * whole] += factor * value;
            }
        }
        Some(-half * log_determinant(&space.psi_lower, q))
    }

    /// Draws theta and Sigma_x given the records; writes theta, sigma^2 and the share that the features explain.
    pub fn draw(&self, variance: f64, space: &mut PopulationSpace, rng: &mut ChainRng, outputs: &mut [f64]) {
        let (size, q) = (self.prior.dimension(), self.features.dimension());
        outputs.fill(f64::NAN);
        if !self.regress(variance, space) || !self.scatter(space) {
            return;
        }
        fill_normal(rng, &mut space.right);
        solve_lower_transposed(&space.lower, &mut space.right);
        for ((output, mean), noise) in outputs.iter_mut().zip(&space.theta).zip(&space.right) {
            *output = mean + noise;
        }
        let degrees = self.features.degrees() + self.records;
        let mut explained = 0.0;
        if q > 0 && space.wishart.sample(rng, &space.psi, degrees, &mut space.sigma) {
            explained = quadratic_form(&space.sigma, &outputs[self.offset..size]);
        }
        outputs[size..].copy_from_slice(&[variance, explained / (explained + variance)]);
    }
}

/// The prior of the features of plain records: where the constant is scaled it is taken out of the prior of scaled records.
pub(super) fn features_of_plain_records(
    prior: &Prior,
    evidence: &crate::Evidence,
) -> Result<FeaturePrior, InferError> {
    let features = prior.features(evidence)?;
    let scaled_constant = evidence.domain().intercept() && evidence.domain().is_scaled();
    if scaled_constant { features.without_first() } else { Ok(features) }
}
