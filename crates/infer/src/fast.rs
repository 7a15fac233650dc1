//! `fast`: the posterior of the coefficients in closed form, residual variance fixed.
//!
//! **Target.** theta given z-hat under z ~ N(S theta, sigma^2 S), z-hat = z + noise, S known (the nearest positive
//! semi-definite matrix to S-hat), sigma^2 fixed. **Exactness.** Exact for that model; the noise in S-hat is ignored, so
//! intervals are too narrow where it matters. **Cost.** O(J d^3) once. **Citation.** \[AYB23\] Algorithm 3.

use crate::cholesky::Cholesky;
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
        Ok(Conditional::new(evidence, prior, self.variance)?.posterior())
    }
}

/// The coefficients given the residual variance, and what is needed to integrate them out.
pub(crate) struct Conditional {
    factor: Cholesky,
    mean: Vec<f64>,
    /// ln p(z-hat | sigma^2) up to a constant.
    pub log_marginal: f64,
}

impl Conditional {
    /// \[AYB23\] Eq. (12), with the covariance sigma^2 S + tau^2 I of the errata.
    pub fn new(evidence: &Evidence, prior: &Prior, variance: f64) -> Result<Self, InferError> {
        let size = evidence.dimension();
        if prior.dimension() != size {
            let reason = format!("has {} coefficients, the regression {size}", prior.dimension());
            return Err(InferError::Prior { field: "mean", reason });
        }
        let mut precision = prior.precision().to_vec();
        let mut shift: Vec<f64> = precision
            .chunks(size)
            .map(|row| row.iter().zip(prior.mean()).map(|(a, b)| a * b).sum())
            .collect();
        let mut log_marginal = 0.0;
        for party in &evidence.parties {
            for (k, &value) in party.values.iter().enumerate() {
                // In the eigenbasis V = s2 S + tau^2 I is diagonal.
                let spread = variance * party.response_scale * value + party.noise_variance;
                let (z, gain) = (party.rotated[k], value / spread);
                log_marginal -= 0.5 * (libm::log(spread) + z * z / spread);
                for i in 0..size {
                    let lever = gain * party.basis[i * size + k];
                    shift[i] += lever * z;
                    for j in 0..size {
                        precision[i * size + j] += lever * value * party.basis[j * size + k];
                    }
                }
            }
        }
        let factor = Cholesky::new(&precision, size)?;
        let mut mean = shift;
        factor.solve_lower(&mut mean);
        // 1/2 ln|Sigma_p| + 1/2 m_p' Sigma_p^-1 m_p, the second term being half the squared norm here.
        log_marginal +=
            0.5 * (mean.iter().map(|value| value * value).sum::<f64>() - factor.log_determinant());
        factor.solve_upper(&mut mean);
        Ok(Self { factor, mean, log_marginal })
    }

    /// Mean and covariance.
    pub fn posterior(&self) -> Gaussian {
        Gaussian { mean: self.mean.clone(), covariance: self.factor.inverse() }
    }
}
