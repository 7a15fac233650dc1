//! A multivariate normal posterior.

use organza_release::units::CoefficientMap;

/// Mean and covariance of coefficients.
#[derive(Debug, Clone, PartialEq)]
pub struct Gaussian {
    /// The mean.
    pub mean: Vec<f64>,
    /// The covariance matrix, row-major.
    pub covariance: Vec<f64>,
}

impl Gaussian {
    /// The same in users' units.
    pub fn to_users(&self, map: &CoefficientMap) -> Self {
        Self { mean: map.to_users(&self.mean), covariance: map.covariance_to_users(&self.covariance) }
    }

    /// Standard deviation of one coefficient.
    pub fn sd(&self, index: usize) -> f64 {
        self.covariance[index * self.mean.len() + index].sqrt()
    }
}
