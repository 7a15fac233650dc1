//! The law of the noise on a count: normalised, and finite for every residual.

use super::{CountFamily, CountNoise};
use crate::loss::{discrete_gaussian_normaliser, quick_sum};
use crate::noise::Family;

/// Log density of the noise on one count, with the normaliser computed once.
///
/// **Target.** Mass on the integers for the discrete families, density on the line for the continuous ones.
/// **Exactness.** Rounding only; the exponent is never taken of, so no residual gives minus infinity.
/// **Cost.** A few operations per residual.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CountLaw {
    gaussian: bool,
    inverse_scale: f64,
    log_normaliser: f64,
}

impl CountLaw {
    /// Log mass (discrete families; the residual is a whole number) or log density of `value - count`.
    pub fn log_density(&self, residual: f64) -> f64 {
        let standardised = residual * self.inverse_scale;
        let energy = if self.gaussian { 0.5 * standardised * standardised } else { standardised.abs() };
        -energy - self.log_normaliser
    }
}

impl CountNoise {
    /// The law, ready to score many residuals.
    pub fn law(&self) -> CountLaw {
        let scale = self.scale;
        let log_normaliser = match self.family {
            // (1 + q) / (1 - q), q = e^(-1 / scale).
            CountFamily::DiscreteLaplace => {
                libm::log1p(libm::exp(-1.0 / scale)) - libm::log(-libm::expm1(-1.0 / scale))
            }
            CountFamily::DiscreteGaussian => libm::log(discrete_gaussian_normaliser(scale)),
            CountFamily::Laplace => libm::log(2.0 * scale),
            CountFamily::Gaussian => libm::log(scale) + 0.5 * libm::log(2.0 * std::f64::consts::PI),
        };
        let gaussian = self.family.continuous() == Family::Gaussian;
        CountLaw { gaussian, inverse_scale: 1.0 / scale, log_normaliser }
    }

    /// Log mass or log density of a single residual `value - count`; [`CountNoise::law`] for many.
    pub fn log_density(&self, residual: f64) -> f64 {
        self.law().log_density(residual)
    }

    /// Variance of the noise on one count.
    pub fn variance(&self) -> f64 {
        let square = self.scale * self.scale;
        match self.family {
            CountFamily::DiscreteLaplace => {
                // 2 q / (1 - q)^2
                let sinh = libm::sinh(0.5 / self.scale);
                0.5 / (sinh * sinh)
            }
            CountFamily::DiscreteGaussian if self.scale < 0.5 => {
                let moment = |k: f64| k * k * libm::exp(-0.5 * k * (k / square));
                2.0 * quick_sum(moment) / discrete_gaussian_normaliser(self.scale)
            }
            CountFamily::DiscreteGaussian => {
                // Minus the logarithmic derivative of the theta series by 1 / (2 s^2), after Poisson summation.
                let pi_square = std::f64::consts::PI * std::f64::consts::PI;
                let image = |j: f64| libm::exp(-2.0 * pi_square * square * j * j);
                let drop = 8.0 * pi_square * square * square * quick_sum(|j| j * j * image(j));
                square - drop / (1.0 + 2.0 * quick_sum(image))
            }
            CountFamily::Laplace => 2.0 * square,
            CountFamily::Gaussian => square,
        }
    }
}

impl CountFamily {
    /// The family without regard to the lattice.
    pub(crate) fn continuous(self) -> Family {
        match self {
            CountFamily::DiscreteLaplace | CountFamily::Laplace => Family::Laplace,
            CountFamily::DiscreteGaussian | CountFamily::Gaussian => Family::Gaussian,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a wrong normaliser or variance on either side of the switch between the two series.
    #[test]
    fn masses_add_up_to_one_with_the_stated_variance() {
        for family in [CountFamily::DiscreteLaplace, CountFamily::DiscreteGaussian] {
            for scale in [0.05, 0.3, 0.499, 0.5, 0.8, 1.0, 3.7, 40.0] {
                let noise = CountNoise { family, scale };
                let law = noise.law();
                let reach = (40.0 * scale) as i32 + 40;
                let mass = |k: i32| libm::exp(law.log_density(f64::from(k)));
                let total: f64 = (-reach..=reach).map(mass).sum();
                let second: f64 = (-reach..=reach).map(|k| mass(k) * f64::from(k).powi(2)).sum();
                assert!((total - 1.0).abs() < 1e-13, "{family:?} {scale}: {total}");
                assert!((second / noise.variance() - 1.0).abs() < 1e-9, "{family:?} {scale}: {second}");
            }
        }
    }

    #[test]
    fn densities_integrate_to_one_with_the_stated_variance() {
        for family in [CountFamily::Laplace, CountFamily::Gaussian] {
            let noise = CountNoise { family, scale: 2.5 };
            let step = 2.5 / 500.0;
            let density = |k: i32| libm::exp(noise.log_density(f64::from(k) * step)) * step;
            let total: f64 = (-20_000..=20_000).map(density).sum();
            let second: f64 = (-20_000..=20_000).map(|k| density(k) * (f64::from(k) * step).powi(2)).sum();
            assert!((total - 1.0).abs() < 1e-6, "{family:?}: {total}");
            assert!((second / noise.variance() - 1.0).abs() < 1e-5, "{family:?}: {second}");
        }
    }

    /// Chains start far away: their first residuals must still be ordered.
    #[test]
    fn far_residuals_stay_finite() {
        use CountFamily::*;
        for family in [DiscreteLaplace, DiscreteGaussian, Laplace, Gaussian] {
            for scale in [0.02, 1.0, 1e9] {
                let law = CountNoise { family, scale }.law();
                let (near, far) = (law.log_density(1e5), law.log_density(1e6));
                assert!(far.is_finite() && far < near, "{family:?} {scale}: {near} {far}");
            }
        }
    }
}
