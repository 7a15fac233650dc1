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

    /// Log likelihood of a true count, 0 where the residual is; concave in the count and finite.
    pub fn log_kernel(&self, count: f64) -> f64 {
        let residual = (self.value - count) / self.scale;
        let log = match self.family {
            CountFamily::Laplace | CountFamily::DiscreteLaplace => -residual.abs(),
            CountFamily::Gaussian | CountFamily::DiscreteGaussian => -0.5 * residual * residual,
        };
        log.max(LOWEST)
    }
}

/// Logarithm of the probability (discrete families) or of the density of a residual, with its constant; finite for every
/// residual. Discrete families are continued between the integers by their formula.
///
/// ```
/// use organza_infer::tables::log_mass;
/// use organza_release::{CountFamily, CountNoise};
///
/// let noise = CountNoise { family: CountFamily::DiscreteLaplace, scale: 2.0 };
/// let total: f64 = (-200..=200).map(|k| log_mass(&noise, k.into()).exp()).sum();
/// assert!((total - 1.0).abs() < 1e-12);
/// ```
pub fn log_mass(noise: &CountNoise, residual: f64) -> f64 {
    let kernel = Observation::new(residual, noise).log_kernel(0.0);
    let scale = noise.scale;
    let normaliser = match noise.family {
        CountFamily::Laplace => libm::log(2.0 * scale),
        CountFamily::Gaussian => libm::log(scale * (2.0 * std::f64::consts::PI).sqrt()),
        // (1 + q) / (1 - q) with q = exp(-1 / scale).
        CountFamily::DiscreteLaplace => -libm::log(libm::tanh(0.5 / scale)),
        CountFamily::DiscreteGaussian => log_theta(scale),
    };
    (kernel - normaliser).max(LOWEST)
}

/// ln of the sum over all integers of exp(-k^2 / (2 scale^2)).
fn log_theta(scale: f64) -> f64 {
    // By Poisson's summation formula the sum is scale sqrt(2 pi) (1 + 2 exp(-2 pi^2 scale^2) + ..): 1e-77 at scale 3.
    if scale >= 3.0 {
        return libm::log(scale * (2.0 * std::f64::consts::PI).sqrt());
    }
    let term = |k: u32| libm::exp(-0.5 * (f64::from(k) / scale).powi(2));
    libm::log(1.0 + 2.0 * (1..=120).map(term).sum::<f64>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a normaliser of the wrong family, and a jump where the two formulas of the discrete Gaussian meet.
    #[test]
    fn probabilities_sum_to_one() {
        for family in [CountFamily::DiscreteLaplace, CountFamily::DiscreteGaussian] {
            for scale in [0.05, 0.4, 1.0, 2.999, 3.0, 25.0] {
                let noise = CountNoise { family, scale };
                let total: f64 = (-2000..=2000).map(|k| log_mass(&noise, f64::from(k)).exp()).sum();
                assert!((total - 1.0).abs() < 1e-12, "{family:?} {scale}: {total}");
            }
        }
        for family in [CountFamily::Laplace, CountFamily::Gaussian] {
            let noise = CountNoise { family, scale: 3.0 };
            let step = 1e-3;
            let total: f64 =
                (-200_000..200_000).map(|k| step * log_mass(&noise, step * (f64::from(k) + 0.5)).exp()).sum();
            assert!((total - 1.0).abs() < 1e-7, "{family:?}: {total}");
        }
    }

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
                    let log = log_mass(&CountNoise { family, scale }, residual);
                    assert!(log.is_finite(), "{family:?} {scale} {residual}: {log}");
                }
            }
        }
    }
}
