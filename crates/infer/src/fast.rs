//! `fast`: the posterior of the coefficients in closed form, residual variance fixed.
//!
//! **Target.** theta given z-hat under z ~ N(S theta, sigma^2 S), z-hat = z + noise, S known (the nearest positive
//! semi-definite matrix to S-hat), sigma^2 fixed. **Exactness.** Exact for that model; the noise in S-hat is ignored, so
//! intervals are too narrow where it matters. **Cost.** O(J d^3) once. **Citation.** \[AYB23\] Algorithm 3.

use rayon::iter::{IndexedParallelIterator, ParallelIterator};
use rayon::slice::ParallelSlice;

use crate::fixed_gram::Spectrum;
use crate::linalg::{Cholesky, dot, invert_lower, sum_of_logarithms};
use crate::{Evidence, Gaussian, InferError, Method, Prior, judge};

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
        let spectra = Spectrum::of(judge::accept(Method::Fast, evidence)?);
        Conditional::new(&spectra, prior, self.variance).posterior()
    }
}

/// The coefficients given the residual variance as natural parameters, and what is needed to integrate them out.
#[derive(Debug, Clone)]
pub(crate) struct Conditional {
    /// Sigma_p^-1, row-major; only the lower triangle counts.
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
            // In the eigenbasis V = s2 S + tau^2 I is diagonal; without noise an empty direction says nothing.
            let spread = |value: &f64| variance * party.response_scale * value + party.noise_variance;
            let spreads = party.values.iter().map(spread);
            self.log_weight -= 0.5 * sum_of_logarithms(spreads.clone().filter(|spread| *spread > 0.0));
            let observed = party.levers.chunks_exact(size).zip(&party.rotated).zip(spreads);
            for ((lever, z), spread) in observed.filter(|(_, spread)| *spread > 0.0) {
                let (weight, scaled) = (1.0 / spread, z / spread);
                self.log_weight -= 0.5 * z * scaled;
                self.shift.iter_mut().zip(lever).for_each(|(sum, value)| *sum += scaled * value);
                for (k, (row, value)) in self.precision.chunks_exact_mut(size).zip(lever).enumerate() {
                    let scaled = weight * value;
                    row[..=k].iter_mut().zip(lever).for_each(|(sum, other)| *sum += scaled * other);
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

    /// All that a draw needs: the mean, then L^-T column by column without its zeros, L L' being the precision. Standard normal
    /// numbers times L^-T have the covariance of the coefficients.
    pub fn mean_and_root(&self) -> Result<Vec<f64>, InferError> {
        let size = self.shift.len();
        let factor = Cholesky::new(&self.precision, size)?;
        let mut out = self.shift.clone();
        factor.solve_lower(&mut out);
        factor.solve_upper(&mut out);
        let mut inverse = vec![0.0; size * size];
        invert_lower(&factor.lower, &mut inverse, size);
        inverse.chunks_exact(size).enumerate().for_each(|(row, values)| out.extend(&values[..=row]));
        Ok(out)
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
