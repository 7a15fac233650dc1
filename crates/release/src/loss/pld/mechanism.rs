//! The steps that can be composed.

use super::pair::Pair;
use crate::loss::error::{LossError, positive};
use crate::privacy::Neighbours;

/// Gaussian noise on a sum over a Poisson sample of the records.
///
/// `sigma` is the standard deviation of the noise in units of the bound C on the norm of one record's term. When a
/// record is exchanged, the sum moves by up to 2C, and `sigma` is *still* the noise over C: the pair of laws has shifts of
/// +1 and -1. (A noise over 2C would be charged twice for the same thing.)
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SubsampledGaussian {
    /// Standard deviation of the noise over the norm bound of one record's term.
    pub sigma: f64,
    /// The probability with which each record is in the sample, in (0, 1].
    pub rate: f64,
    /// Which tables are neighbours.
    pub relation: Neighbours,
}

/// One private step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// Gaussian noise on a sum over a sample.
    SubsampledGaussian(SubsampledGaussian),
    /// Gaussian noise with mu = sensitivity / scale.
    Gaussian {
        /// Sensitivity over scale.
        mu: f64,
    },
    /// Laplace noise on one number with epsilon = sensitivity / scale.
    Laplace {
        /// Sensitivity over scale.
        epsilon: f64,
    },
}

/// In which order the pair of neighbours is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Removed,
    Added,
}

impl Step {
    pub(super) fn validate(self) -> Result<(), LossError> {
        match self {
            Self::SubsampledGaussian(SubsampledGaussian { sigma, rate, .. }) => {
                positive("sigma", sigma)?;
                let accepted = rate > 0.0 && rate <= 1.0;
                let requirement = "above 0 and at most 1";
                accepted.then_some(()).ok_or(LossError::Argument {
                    argument: "rate",
                    value: rate,
                    requirement,
                })
            }
            Self::Gaussian { mu } => positive("mu", mu).map(drop),
            Self::Laplace { epsilon } => positive("epsilon", epsilon).map(drop),
        }
    }

    /// The relation for which the step is accounted; none if it holds for either.
    pub(super) fn relation(self) -> Option<Neighbours> {
        match self {
            Self::SubsampledGaussian(step) => Some(step.relation),
            Self::Gaussian { .. } | Self::Laplace { .. } => None,
        }
    }

    /// Whether the two orders of the pair have different losses.
    pub(super) fn is_lopsided(self) -> bool {
        matches!(self, Self::SubsampledGaussian(step) if step.relation == Neighbours::AddRemove && step.rate < 1.0)
    }

    pub(super) fn pair(self, direction: Direction) -> Pair {
        match self {
            Self::SubsampledGaussian(SubsampledGaussian { sigma, rate, relation }) => {
                match (relation, direction) {
                    (Neighbours::Substitute, _) => Pair::Exchanged { sigma, rate },
                    (Neighbours::AddRemove, Direction::Removed) => Pair::Removed { sigma, rate },
                    (Neighbours::AddRemove, Direction::Added) => Pair::Added { sigma, rate },
                }
            }
            Self::Gaussian { mu } => Pair::Removed { sigma: mu.recip(), rate: 1.0 },
            Self::Laplace { epsilon } => Pair::Laplace { epsilon },
        }
    }
}

impl From<SubsampledGaussian> for Step {
    fn from(step: SubsampledGaussian) -> Self {
        Self::SubsampledGaussian(step)
    }
}
