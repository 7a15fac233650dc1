//! Releases with seeded noise: for experiments on public or simulated data only, they protect nobody.

use organza_release::loss::{LossError, gaussian_scale};
use organza_release::{
    CountFamily, Domain, Family, Missing, Neighbours, Noise, Norm, PrivacyLoss, Release, Statistic, Tool,
    sensitivity,
};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};

/// One draw of noise of scale 1.
pub fn standard_noise(family: Family, rng: &mut impl Rng) -> f64 {
    match family {
        Family::Gaussian => StandardNormal.sample(rng),
        Family::Laplace => {
            // The sign and an exponential number, from one uniform in (-1, 1).
            let uniform = 2.0 * rng.random::<f64>() - 1.0;
            -libm::log1p(-uniform.abs()).copysign(-uniform)
        }
    }
}

/// Noise of a count: rounded, which is near enough to the discrete laws where their scale is some records.
pub fn count_noise(family: CountFamily, scale: f64, rng: &mut impl Rng) -> i128 {
    let family = match family {
        CountFamily::DiscreteGaussian | CountFamily::Gaussian => Family::Gaussian,
        CountFamily::DiscreteLaplace | CountFamily::Laplace => Family::Laplace,
    };
    (scale * standard_noise(family, rng)).round() as i128
}

/// How releases of one experiment are made.
#[derive(Debug, Clone)]
pub struct Mechanism {
    /// The domain of a record.
    pub domain: Domain,
    /// What is computed.
    pub statistic: Statistic,
    /// Family of the noise.
    pub family: Family,
    /// One scale for every released number, in the units of the values.
    pub scales: Vec<f64>,
    /// Epsilon that the release states.
    pub epsilon: f64,
    /// Delta that the release states.
    pub delta: f64,
    /// Sensitivity that the release states.
    pub sensitivity: f64,
}

impl Mechanism {
    /// Gaussian noise of a common scale in weighted units: every released number gets it divided by its own weight.
    pub fn gaussian(domain: Domain, statistic: Statistic, scale: f64, (epsilon, delta): (f64, f64)) -> Self {
        let scales = statistic.weights(&domain).iter().map(|weights| scale / weights.noise).collect();
        let bound = sensitivity::of_release(&domain, &statistic, Neighbours::Substitute, Norm::L2);
        let family = Family::Gaussian;
        Self { domain, statistic, family, scales, epsilon, delta, sensitivity: bound.value }
    }

    /// Gaussian noise that keeps its promise: (epsilon, delta) if one record is exchanged.
    pub fn calibrated(
        domain: Domain,
        statistic: Statistic,
        (epsilon, delta): (f64, f64),
    ) -> Result<Self, LossError> {
        let bound = sensitivity::of_release(&domain, &statistic, Neighbours::Substitute, Norm::L2);
        let scale = gaussian_scale(epsilon, delta, bound.value)?;
        Ok(Self::gaussian(domain, statistic, scale, (epsilon, delta)))
    }

    /// A release of these exact numbers (one for every scale) of so many records.
    pub fn publish(&self, party: &str, records: u64, exact: &[f64], rng: &mut impl Rng) -> Release {
        debug_assert_eq!(exact.len(), self.scales.len());
        let noisy = |(value, scale): (&f64, &f64)| value + scale * standard_noise(self.family, rng);
        self.release(party, records, exact.iter().zip(&self.scales).map(noisy).collect())
    }

    /// A release of numbers that have their noise already.
    pub fn release(&self, party: &str, records: u64, value: Vec<f64>) -> Release {
        let norm = if self.family == Family::Gaussian { Norm::L2 } else { Norm::L1 };
        Release {
            schema: organza_release::SCHEMA.into(),
            party: party.into(),
            created: "2026-01-31T12:00:00Z".into(),
            records: Some(records),
            missing: Missing::Refused,
            value,
            noise: Noise { family: self.family, scales: self.scales.clone(), lattice: -32 },
            statistic: self.statistic.clone(),
            domain: self.domain.clone(),
            privacy: PrivacyLoss {
                neighbours: Neighbours::Substitute,
                epsilon: self.epsilon,
                delta: self.delta,
                norm,
                sensitivity: self.sensitivity,
                public_bounds: false,
            },
            tool: Tool { name: "organza-studies".into(), version: env!("CARGO_PKG_VERSION").into() },
        }
    }

    /// The released entries of a Gram matrix (row-major, response last, normalised units).
    pub fn entries(&self, gram: &[f64]) -> Vec<f64> {
        let size = self.domain.dimension();
        self.statistic.entries().iter().map(|&[row, column]| gram[row * size + column]).collect()
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand::rngs::ChaCha8Rng;

    use super::*;
    use crate::metrics::kolmogorov_smirnov;

    /// Catches a Laplace draw with the wrong scale or one-sided, and a wrong normal: each against its law, alpha 1e-6 / 2.
    #[test]
    fn noise_has_its_law() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        type Law = (Family, fn(f64) -> f64);
        let laws: [Law; 2] = [
            (Family::Gaussian, |x| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)),
            (Family::Laplace, |x| if x < 0.0 { 0.5 * x.exp() } else { 1.0 - 0.5 * (-x).exp() }),
        ];
        for (family, law) in laws {
            let sample: Vec<f64> = (0..20_000).map(|_| standard_noise(family, &mut rng)).collect();
            let found = kolmogorov_smirnov(&sample, law);
            assert!(found.p_value > 0.5e-6, "{family:?}: {found:?}");
        }
    }
}
