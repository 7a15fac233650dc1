//! What is known of the number of records.

use serde::{Deserialize, Serialize};

use crate::InferError;

/// The prior of the number of records where it is not public: exactly one of the three is given.
///
/// ```
/// let prior: organza_infer::tables::RecordsPrior = toml::from_str("poisson_mean = 120.0")?;
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RecordsPrior {
    /// Uniform on 0 to this number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uniform_most: Option<u64>,
    /// Poisson with this mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poisson_mean: Option<f64>,
    /// Negative binomial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub negative_binomial: Option<NegativeBinomial>,
}

/// A Poisson law whose mean has a gamma law.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NegativeBinomial {
    /// Mean.
    pub mean: f64,
    /// Shape of the gamma law; the variance is mean + mean^2 / shape.
    pub shape: f64,
}

/// Number of records of one party.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Records {
    /// Public.
    Known(usize),
    /// Somewhere from 0 to `most`.
    Unknown { law: Law, most: usize },
}

/// A checked prior.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Law {
    Flat,
    Poisson { mean: f64 },
    NegativeBinomial { mean: f64, shape: f64 },
}

/// The largest number of records that fits into the memory of the exact methods.
const LARGEST: usize = 100_000_000;
/// Beyond a drop of this much the tail of a prior is below rounding.
const DROP: f64 = 90.0;

impl RecordsPrior {
    /// The number of records of a party; `reach` is the largest that its noisy counts could mean.
    pub(super) fn build(&self, reach: usize) -> Result<Records, InferError> {
        let wrong = |field: &str, reason: String| Err(InferError::prior(format!("records.{field}"), reason));
        let positive = |value: f64| value.is_finite() && value > 0.0;
        let (law, most) = match (self.uniform_most, self.poisson_mean, self.negative_binomial) {
            (None, None, None) => (Law::Flat, reach),
            (Some(most), None, None) => (Law::Flat, usize::try_from(most).unwrap_or(usize::MAX)),
            (None, Some(mean), None) if !positive(mean) => {
                return wrong("poisson_mean", format!("must be positive and finite, found {mean}"));
            }
            (None, Some(mean), None) => (Law::Poisson { mean }, 0),
            (None, None, Some(NegativeBinomial { mean, shape })) if !(positive(mean) && positive(shape)) => {
                let reason = format!("needs a positive mean and shape, found {mean} and {shape}");
                return wrong("negative_binomial", reason);
            }
            (None, None, Some(NegativeBinomial { mean, shape })) => {
                (Law::NegativeBinomial { mean, shape }, 0)
            }
            _ => return Err(InferError::prior("records", "has more than one law: give one")),
        };
        let most = if law == Law::Flat { most } else { law.most().max(reach) };
        if most > LARGEST {
            return wrong("uniform_most", format!("{most} are too many; at most {LARGEST} can be handled"));
        }
        Ok(Records::Unknown { law, most })
    }
}

impl Law {
    /// Log probability of n, up to a constant for the flat law.
    pub fn log_mass(self, n: usize) -> f64 {
        let x = n as f64;
        match self {
            Law::Flat => 0.0,
            Law::Poisson { mean } => x * libm::log(mean) - mean - libm::lgamma(x + 1.0),
            Law::NegativeBinomial { mean, shape } => {
                let gammas = libm::lgamma(x + shape) - libm::lgamma(shape) - libm::lgamma(x + 1.0);
                gammas - shape * libm::log1p(mean / shape) - x * libm::log1p(shape / mean)
            }
        }
    }

    /// A number of records beyond which the tail is below rounding.
    fn most(self) -> usize {
        let mean = match self {
            Law::Flat => return LARGEST,
            Law::Poisson { mean } | Law::NegativeBinomial { mean, .. } => mean,
        };
        let peak = self.log_mass(mean as usize).max(self.log_mass(0));
        let mut most = 16.max(mean as usize);
        while most <= LARGEST && self.log_mass(most) > peak - DROP {
            most += most / 4;
        }
        most
    }
}

impl Records {
    /// The smallest and the largest number.
    pub fn range(&self) -> (usize, usize) {
        match self {
            Records::Known(n) => (*n, *n),
            Records::Unknown { most, .. } => (0, *most),
        }
    }

    /// Log prior probability, at most 0.
    pub fn log_mass(&self, n: usize) -> f64 {
        match self {
            Records::Known(_) => 0.0,
            Records::Unknown { law, .. } => law.log_mass(n),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a wrong parametrisation: the mean and the variance are what the documentation says.
    #[test]
    fn laws_have_their_moments() {
        let laws = [
            (Law::Poisson { mean: 7.5 }, 7.5, 7.5),
            (Law::NegativeBinomial { mean: 6.0, shape: 2.5 }, 6.0, 6.0 + 36.0 / 2.5),
        ];
        for (law, mean, variance) in laws {
            let moment = |f: &dyn Fn(f64) -> f64| -> f64 {
                (0..=law.most()).map(|n| f(n as f64) * law.log_mass(n).exp()).sum()
            };
            assert!((moment(&|_| 1.0) - 1.0).abs() < 1e-11);
            assert!((moment(&|n| n) - mean).abs() < 1e-10);
            assert!((moment(&|n| (n - mean).powi(2)) - variance).abs() < 1e-9);
        }
    }

    #[test]
    fn a_bad_prior_names_its_field() {
        let both = RecordsPrior { uniform_most: Some(3), poisson_mean: Some(1.0), negative_binomial: None };
        assert!(both.build(5).unwrap_err().to_string().contains("records"));
        let negative = RecordsPrior { poisson_mean: Some(-1.0), ..RecordsPrior::default() };
        assert!(negative.build(5).unwrap_err().to_string().contains("records.poisson_mean"));
    }
}
