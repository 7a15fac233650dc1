//! The steps that can be composed.

use super::integers::Integers;
use super::pair::Pair;
use crate::loss::error::{LossError, below_one, positive};
use crate::privacy::Neighbours;
use std::rc::Rc;

/// Discrete noise of a larger scale is not tabulated.
pub(crate) const LARGEST_SCALE: f64 = 32_768.0;

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
    /// Discrete Gaussian noise on a count that moves by one.
    DiscreteGaussian {
        /// The scale of the noise, in records.
        scale: f64,
    },
    /// Any mechanism of which one point of the privacy curve is known.
    Approximate {
        /// The epsilon of that point.
        epsilon: f64,
        /// The delta of that point.
        delta: f64,
    },
}

/// In which order the pair of neighbours is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Removed,
    Added,
}

impl Step {
    pub(crate) fn validate(self) -> Result<(), LossError> {
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
            Self::DiscreteGaussian { scale } => {
                let accepted = scale > 0.0 && scale <= LARGEST_SCALE;
                let requirement = "above 0 and at most 32768; beyond, noise is as good as continuous";
                accepted.then_some(()).ok_or(LossError::Argument {
                    argument: "scale",
                    value: scale,
                    requirement,
                })
            }
            Self::Approximate { epsilon, delta } => {
                positive("epsilon", epsilon)?;
                below_one("delta", delta).map(drop)
            }
        }
    }

    /// The relation for which the step is accounted; none if it holds for either.
    pub(super) fn relation(self) -> Option<Neighbours> {
        match self {
            Self::SubsampledGaussian(step) => Some(step.relation),
            _ => None,
        }
    }

    /// The loss, with either sign, at which there is an atom.
    pub(super) fn atom(self) -> Option<f64> {
        match self {
            Self::Laplace { epsilon } | Self::Approximate { epsilon, .. } => Some(epsilon),
            _ => None,
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
            Self::DiscreteGaussian { scale } => Pair::Integers(Rc::new(Integers::new(scale))),
            Self::Approximate { epsilon, delta } => Pair::Response { epsilon, delta },
        }
    }
}

impl From<SubsampledGaussian> for Step {
    fn from(step: SubsampledGaussian) -> Self {
        Self::SubsampledGaussian(step)
    }
}
