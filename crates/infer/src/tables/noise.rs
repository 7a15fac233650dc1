//! The noise on counts, as a function of the residual: noisy count minus true count.

use organza_release::{CountFamily, CountNoise};

/// Below this the logarithm says "impossible" and is still a number that can be added and compared.
const LOWEST: f64 = -1e300;

/// A noisy count and its noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Observation {
    pub value: f64,
    family: CountFamily,
    pub scale: f64,
}

impl Observation {
    pub fn new(value: f64, noise: &CountNoise) -> Self {
        Self { value, family: noise.family, scale: noise.scale }
    }

    /// Log likelihood of a true count without its constant, which [`CountNoise::log_density`] has: 0 where the residual is; concave in
    /// the count and finite.
    pub fn log_kernel(&self, count: f64) -> f64 {
        let residual = (self.value - count) / self.scale;
        let log = match self.family {
            CountFamily::Laplace | CountFamily::DiscreteLaplace => -residual.abs(),
            CountFamily::Gaussian | CountFamily::DiscreteGaussian => -0.5 * residual * residual,
        };
        log.max(LOWEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches minus infinity or NaN far away, which would kill every comparison that follows.
    #[test]
    fn far_residuals_stay_finite() {
        for family in [
            CountFamily::DiscreteLaplace,
            CountFamily::DiscreteGaussian,
            CountFamily::Laplace,
            CountFamily::Gaussian,
        ] {
            for scale in [1e-200, 1e-3, 1.0, 1e6] {
                for residual in [0.0, 0.5, -1e3 * scale, 1e9, f64::MAX] {
                    let log = Observation::new(residual, &CountNoise { family, scale }).log_kernel(0.0);
                    assert!(log.is_finite(), "{family:?} {scale} {residual}: {log}");
                }
            }
        }
    }
}
