//! Independent normal priors.

/// Independent normal distributions of the parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct NormalPrior {
    mean: Vec<f64>,
    sd: Vec<f64>,
}

impl NormalPrior {
    /// One mean and one standard deviation for each parameter.
    pub fn new(mean: Vec<f64>, sd: Vec<f64>) -> Self {
        Self { mean, sd }
    }

    /// The standard deviations.
    pub fn sd(&self) -> &[f64] {
        &self.sd
    }

    fn standardised(&self, theta: &[f64]) -> impl Iterator<Item = (f64, f64)> {
        theta.iter().zip(&self.mean).zip(&self.sd).map(|((theta, mean), sd)| ((theta - mean) / sd, *sd))
    }

    /// ln p(theta), up to a constant.
    pub fn log_density(&self, theta: &[f64]) -> f64 {
        -0.5 * self.standardised(theta).map(|(z, _)| z * z).sum::<f64>()
    }

    /// Adds its gradient.
    pub fn add_gradient(&self, theta: &[f64], gradient: &mut [f64]) {
        gradient.iter_mut().zip(self.standardised(theta)).for_each(|(gradient, (z, sd))| *gradient -= z / sd);
    }
}
