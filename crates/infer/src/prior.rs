//! The prior, in normalised units: theta ~ N(m, C), sigma^2 ~ IG(a, b).
//!
//! \[AYB23\] Eq. (4).

use crate::InferError;
use crate::cholesky::Cholesky;

/// A prior of the coefficients and of the residual variance.
#[derive(Debug, Clone, PartialEq)]
pub struct Prior {
    mean: Vec<f64>,
    precision: Vec<f64>,
    shape: f64,
    rate: f64,
}

impl Prior {
    /// A prior with a dense covariance matrix, row-major.
    pub fn new(mean: Vec<f64>, covariance: &[f64], (shape, rate): (f64, f64)) -> Result<Self, InferError> {
        let size = mean.len();
        if covariance.len() != size * size {
            let reason = format!("has {} numbers for {size} coefficients", covariance.len());
            return Err(InferError::Prior { field: "covariance", reason });
        }
        if mean.iter().any(|value| !value.is_finite()) {
            return Err(InferError::Prior { field: "mean", reason: "must be finite".into() });
        }
        for (field, value) in [("shape", shape), ("rate", rate)] {
            if !(value.is_finite() && value > 0.0) {
                return Err(InferError::Prior {
                    field,
                    reason: format!("must be positive and finite, found {value}"),
                });
            }
        }
        Ok(Self { mean, precision: Cholesky::new(covariance, size)?.inverse(), shape, rate })
    }

    /// Weakly informative: a coefficient of 1 moves the response by half its range over half the range of the feature, so
    /// N(0, 1) hardly constrains; IG(2, 0.1) has mean 0.1, a residual sd of a third of the half-range, and no variance.
    pub fn weak(coefficients: usize) -> Self {
        let mut precision = vec![0.0; coefficients * coefficients];
        (0..coefficients).for_each(|k| precision[k * coefficients + k] = 1.0);
        Self { mean: vec![0.0; coefficients], precision, shape: 2.0, rate: 0.1 }
    }

    /// Number of coefficients.
    pub fn dimension(&self) -> usize {
        self.mean.len()
    }

    /// Mean of the coefficients.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Inverse of their covariance, row-major.
    pub fn precision(&self) -> &[f64] {
        &self.precision
    }

    /// Log density of ln sigma^2, up to a constant.
    pub(crate) fn log_density_of_log_variance(&self, log_variance: f64) -> f64 {
        -self.shape * log_variance - self.rate * libm::exp(-log_variance)
    }

    /// Where that density is largest.
    pub(crate) fn log_variance_mode(&self) -> f64 {
        libm::log(self.rate / self.shape)
    }
}
