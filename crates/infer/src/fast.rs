//! `fast`: the posterior of the coefficients in closed form, residual variance fixed.
//!
//! **Target.** theta given z-hat under z ~ N(S theta, sigma^2 S), z-hat = z + noise, S known (the nearest positive
//! semi-definite matrix to S-hat), sigma^2 fixed. **Exactness.** Exact for that model; the noise in S-hat is ignored, so
//! intervals are too narrow where it matters. **Cost.** O(J d^3) once. **Citation.** \[AYB23\] Algorithm 3.

use rayon::iter::{IndexedParallelIterator, ParallelIterator};
use rayon::slice::ParallelSlice;

use crate::fixed_gram::Spectrum;
use crate::linalg::{Cholesky, dot};
use crate::{Evidence, Gaussian, InferError, Prior};

/// The closed form for a fixed residual variance (normalised units).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fast {
    /// sigma^2; \[AYB23\] section 4.2 takes a third of the half-range as sigma.
    pub variance: f64,
}

impl Default for Fast {
    fn default() -> Self {
        Self { variance: 1.0 / 9.0 }
    }
}

impl Fast {
    /// The posterior, in normalised units.
    pub fn posterior(&self, evidence: &Evidence, prior: &Prior) -> Result<Gaussian, InferError> {
        prior.check(evidence)?;
        Conditional::new(&Spectrum::of(evidence)?, prior, self.variance).posterior()
    }
}

/// The coefficients given the residual variance as natural parameters, and what is needed to integrate them out.
#[derive(Debug, Clone)]
pub(crate) struct Conditional {
    /// Sigma_p^-1, row-major.
    pub precision: Vec<f64>,
    /// Sigma_p^-1 m_p.
    pub shift: Vec<f64>,
    /// The part of ln p(z-hat | sigma^2) that is not from integrating theta out, up to a constant.
    pub log_weight: f64,
}

/// Parties of a block: sums are over blocks, so that they do not depend on the number of threads.
const BLOCK: usize = 256;

impl Conditional {
    /// \[AYB23\] Eq. (12), with the covariance sigma^2 S + tau^2 I of the errata.
    pub fn new(parties: &[Spectrum], prior: &Prior, variance: f64) -> Self {
        let size = prior.dimension();
        let mut sum = Self::of_prior(prior, variance);
        if parties.len() <= BLOCK {
            sum.add(parties, variance);
            return sum;
        }
        let blocks = parties.par_chunks(BLOCK).map(|block| {
            let mut part =
                Self { precision: vec![0.0; size * size], shift: vec![0.0; size], log_weight: 0.0 };
            part.add(block, variance);
            part
        });
        let mut parts = Vec::new();
        blocks.collect_into_vec(&mut parts);
        for part in parts {
            sum.precision.iter_mut().zip(part.precision).for_each(|(total, value)| *total += value);
            sum.shift.iter_mut().zip(part.shift).for_each(|(total, value)| *total += value);
            sum.log_weight += part.log_weight;
        }
        sum
    }

    /// The prior alone.
    pub fn of_prior(prior: &Prior, variance: f64) -> Self {
        let factor = prior.precision_factor(variance);
        let size = prior.dimension() as f64;
        Self {
            precision: prior.precision().iter().map(|value| factor * value).collect(),
            shift: prior.shift().iter().map(|value| factor * value).collect(),
            log_weight: 0.5 * (size * libm::log(factor) - factor * prior.mean_norm()),
        }
    }

    fn add(&mut self, parties: &[Spectrum], variance: f64) {
        let size = self.shift.len();
        for party in parties {
            for (k, &value) in party.values.iter().enumerate() {
                // In the eigenbasis V = s2 S + tau^2 I is diagonal; without noise an empty direction says nothing.
                let spread = variance * party.response_scale * value + party.noise_variance;
                if spread == 0.0 {
                    continue;
                }
                let (z, gain) = (party.rotated[k], value / spread);
                self.log_weight -= 0.5 * (libm::log(spread) + z * z / spread);
                for i in 0..size {
                    let lever = gain * party.basis[i * size + k];
                    self.shift[i] += lever * z;
                    for j in 0..size {
                        self.precision[i * size + j] += lever * value * party.basis[j * size + k];
                    }
                }
            }
        }
    }

    /// ln p(z-hat | sigma^2) up to a constant.
    pub fn log_marginal(&self) -> Result<f64, InferError> {
        let factor = Cholesky::new(&self.precision, self.shift.len())?;
        let mut half = self.shift.clone();
        factor.solve_lower(&mut half);
        // 1/2 ln|Sigma_p| + 1/2 m_p' Sigma_p^-1 m_p, the second term being half the squared norm here.
        Ok(self.log_weight + 0.5 * (dot(&half, &half) - factor.log_determinant()))
    }

    /// Mean and covariance.
    pub fn posterior(&self) -> Result<Gaussian, InferError> {
        let factor = Cholesky::new(&self.precision, self.shift.len())?;
        let mut mean = self.shift.clone();
        factor.solve_lower(&mut mean);
        factor.solve_upper(&mut mean);
        Ok(Gaussian { mean, covariance: factor.inverse() })
    }
}
