//! Several mechanisms on the same records, and one mechanism on disjoint records.
//!
//! Gaussian mechanisms alone compose *exactly* to one with mu^2 = sum of mu_i^2: \[DRS22\] Corollary 3.3, which
//! is \[RKH21\] Theorem 2.4 (the mu there is sum D_i^2 / (2 s_i^2), half of our mu^2). One mechanism alone has a closed form. Of any mixture the smallest of
//! three bounds is taken, each of which always holds:
//!
//! 1. **Basic**: epsilons and deltas of the pure, Laplace and approximate mechanisms are added to the loss of the Gaussian ones. At delta = 0 it is all there is, and exact.
//! 2. **Concentrated** ([`composed_rho`](super::composed_rho)): the rhos add; better than the theorems of advanced composition.
//! 3. **The law of the loss** on a grid ([`pld`]), which is exact but for the grid, a part in a thousand or less of epsilon, and says so by a lower bound.
//!
//! **When it holds.** The mechanisms may look at earlier outputs, but how much noise each adds must be fixed
//! in advance. When all are Gaussian, or all pure and delta is 0, the amounts may be chosen adaptively too, as long as the
//! total stays within a limit that was fixed in advance.

use super::RELATIVE_ACCURACY;
use super::error::{LossError, below_one, not_negative, positive};
use super::gaussian::{delta_at, gaussian_mu};
use super::pld::{self, Bracket, Step, SubsampledGaussian};
use super::sum::CompensatedSum;
use crate::privacy::Neighbours;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Squares of mu outside of this range would overflow or vanish.
const MU_RANGE: std::ops::RangeInclusive<f64> = 1e-150..=1e150;
/// Counts beyond this are not distinguished by the arithmetic of doubles.
const MOST_EXACT_STEPS: u64 = 1 << 46;
/// The loss of one mechanism, as much of it as composition needs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Mechanism {
    /// Gaussian noise.
    Gaussian {
        /// L2 sensitivity over scale.
        mu: f64,
    },
    /// A mechanism with delta = 0, such as discrete Laplace noise or randomised response.
    Pure {
        /// Its epsilon.
        epsilon: f64,
    },
    /// Any other mechanism, known by one point of its privacy curve.
    Approximate {
        /// The epsilon of that point.
        epsilon: f64,
        /// The delta of that point.
        delta: f64,
    },
    /// Continuous Laplace noise on any number of entries. (What moves several entries loses less than what moves one of them as far.)
    Laplace {
        /// L1 sensitivity over scale.
        epsilon: f64,
    },
    /// Discrete Gaussian noise on counts.
    DiscreteGaussian {
        /// The scale of the noise, in records.
        scale: f64,
        /// How many counts move by one between neighbours.
        moved: u64,
    },
    /// Gaussian noise on sums over Poisson samples of the records.
    SubsampledGaussian {
        /// Standard deviation of the noise over the norm bound of one record's term.
        sigma: f64,
        /// The probability with which a record is in a sample.
        rate: f64,
        /// The number of sums.
        steps: u64,
        /// Which tables are neighbours.
        neighbours: Neighbours,
    },
}

/// The total loss of any number of mechanisms on the same records.
///
/// ```
/// use organza_release::loss::{Composition, Mechanism};
///
/// let mut total = Composition::of([Mechanism::Gaussian { mu: 0.3 }, Mechanism::Gaussian { mu: 0.4 }])?;
/// assert_eq!(total.mu(), 0.5);
/// let before = total.epsilon(1e-6)?;
/// total.push(Mechanism::Laplace { epsilon: 0.1 })?;
/// assert!(total.epsilon(1e-6)? > before && total.epsilon(1e-6)? < before + 0.1);
/// # Ok::<(), organza_release::loss::LossError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Composition {
    mu_squared: CompensatedSum,
    /// Everything but Gaussian noise, each kind once, and how often.
    others: Vec<(Mechanism, u64)>,
}

impl Composition {
    /// The composition of these mechanisms. Of none: no loss.
    pub fn of(mechanisms: impl IntoIterator<Item = Mechanism>) -> Result<Self, LossError> {
        let mut composition = Self::default();
        for mechanism in mechanisms {
            composition.push(mechanism)?;
        }
        Ok(composition)
    }

    /// Adds one more mechanism on the same records.
    pub fn push(&mut self, mechanism: Mechanism) -> Result<(), LossError> {
        self.push_times(mechanism, 1)
    }

    /// Adds a mechanism that is used so many times on the same records.
    pub fn push_times(&mut self, mechanism: Mechanism, times: u64) -> Result<(), LossError> {
        mechanism.check()?;
        let relation = |mechanism: &Mechanism| match mechanism {
            Mechanism::SubsampledGaussian { neighbours, .. } => Some(*neighbours),
            _ => None,
        };
        let mut known = self.others.iter().filter_map(|(mechanism, _)| relation(mechanism));
        if relation(&mechanism).is_some_and(|new| known.any(|old| old != new)) {
            return Err(LossError::MixedNeighbours);
        }
        match mechanism {
            // [DRS22] Corollary 3.3, [RKH21] Theorem 2.4
            Mechanism::Gaussian { mu } => self.mu_squared.add(mu * mu * times as f64),
            other => self.add(other, times),
        }
        Ok(())
    }

    /// Adds a mechanism that has been checked and is not Gaussian.
    pub(super) fn add(&mut self, mechanism: Mechanism, times: u64) {
        match self.others.iter_mut().find(|(known, _)| *known == mechanism) {
            Some((_, count)) => *count = count.saturating_add(times),
            None if times > 0 => self.others.push((mechanism, times)),
            None => {}
        }
    }

    /// Everything but Gaussian noise, each kind once, and how often.
    pub(super) fn others(&self) -> &[(Mechanism, u64)] {
        &self.others
    }

    /// The same composition `count` times over; nothing at all for a count of 0.
    #[must_use]
    pub fn repeat(&self, count: u64) -> Self {
        let times = |(mechanism, times): &(Mechanism, u64)| (*mechanism, times.saturating_mul(count));
        let others = if count == 0 { vec![] } else { self.others.iter().map(times).collect() };
        Self { mu_squared: self.mu_squared.times(count as f64), others }
    }

    /// The mu of the Gaussian part, sqrt(sum of mu_i^2): exact up to rounding. 0 without a Gaussian part.
    pub fn mu(&self) -> f64 {
        self.mu_squared.total().sqrt()
    }

    /// Whether no epsilon holds at delta = 0.
    pub fn needs_delta(&self) -> bool {
        let unbounded = |mechanism: &Mechanism| match mechanism {
            Mechanism::Pure { .. } | Mechanism::Laplace { .. } => false,
            Mechanism::Approximate { delta, .. } => *delta > 0.0,
            _ => true,
        };
        self.mu() > 0.0 || self.others.iter().any(|(mechanism, _)| unbounded(mechanism))
    }

    /// The delta at `epsilon`: at least the true one, and at most 1.
    ///
    /// For Gaussian mechanisms alone, or one mechanism of another kind, it is exact, with the accuracy of [`gaussian_delta`](super::gaussian_delta).
    pub fn delta(&self, epsilon: f64) -> Result<f64, LossError> {
        not_negative("epsilon", epsilon)?;
        if let Some(exact) = self.closed_delta(epsilon)? {
            return Ok(exact);
        }
        let known = self.basic_delta(epsilon)?.min(self.concentrated_delta(epsilon)?);
        if known == 0.0 {
            return Ok(0.0);
        }
        let grid = self.grid().map(|grid| grid.delta(epsilon, pld::delta_at_most));
        // f64::min ignores what is not a number.
        Ok(grid.and_then(Result::ok).map_or(known, |found| found.min(known)))
    }

    /// The smallest epsilon at `delta`; never below the truth by more than rounding.
    ///
    /// `delta` may be 0 if all mechanisms are pure. A delta that no epsilon reaches is an error that says which delta would do. For Gaussian
    /// mechanisms alone, or one mechanism of another kind, the result is exact, with the accuracy of [`gaussian_epsilon`](super::gaussian_epsilon).
    pub fn epsilon(&self, delta: f64) -> Result<f64, LossError> {
        below_one("delta", delta)?;
        if let Some(exact) = self.closed_epsilon(delta)? {
            return Ok(exact);
        }
        let mut found = self.basic_epsilon(delta);
        let grid = self.grid().filter(|_| delta > 0.0).map(|grid| grid.epsilon(delta, pld::epsilon_at_most));
        for other in grid.into_iter().chain([self.concentrated_epsilon(delta)]) {
            found = match (found, other) {
                (Ok(one), Ok(other)) => Ok(one.min(other)),
                (Err(_), Ok(other)) => Ok(other),
                (found, Err(_)) => found,
            };
        }
        found
    }

    /// Bounds of the smallest delta at `epsilon`; the upper one is [`delta`](Self::delta). The lower one is for the worst mechanisms that are
    /// as pure, or as approximate, as these.
    pub fn delta_bounds(&self, epsilon: f64) -> Result<Bracket, LossError> {
        let upper = self.delta(epsilon)?;
        if upper == 0.0 || self.closed_delta(epsilon)?.is_some() {
            return Ok(Bracket { lower: upper, upper });
        }
        let lower = match self.grid().filter(|grid| grid.exact) {
            Some(grid) => pld::compose(&grid.steps)?.delta(epsilon)?.lower,
            None => 0.0,
        };
        Ok(Bracket { lower: lower.min(upper), upper })
    }

    /// Bounds of the smallest epsilon at `delta`; the upper one is [`epsilon`](Self::epsilon).
    pub fn epsilon_bounds(&self, delta: f64) -> Result<Bracket, LossError> {
        let upper = self.epsilon(delta)?;
        if delta == 0.0 || self.closed_epsilon(delta)?.is_some() {
            return Ok(Bracket { lower: upper, upper });
        }
        let lower = match self.grid().filter(|grid| grid.exact) {
            Some(grid) => pld::compose(&grid.steps)?.epsilon(delta)?.lower,
            None => 0.0,
        };
        Ok(Bracket { lower: lower.min(upper), upper })
    }
}

impl Mechanism {
    /// The same mechanism between tables of which one record is *exchanged*, if its numbers are for a record that is added or
    /// removed.
    ///
    /// An exchange is a removal and an addition: a group of two. Sensitivities at most double, so an epsilon and a mu do; of
    /// counts twice as many move by one, for a count that both touch goes down and up again; an (epsilon, delta) becomes
    /// (2 epsilon, (1 + e^epsilon) delta); for sums over samples the accountant knows both relations.
    #[must_use]
    pub fn for_exchanged_records(self) -> Self {
        match self {
            Self::Gaussian { mu } => Self::Gaussian { mu: 2.0 * mu },
            Self::Pure { epsilon } => Self::Pure { epsilon: 2.0 * epsilon },
            Self::Laplace { epsilon } => Self::Laplace { epsilon: 2.0 * epsilon },
            Self::Approximate { epsilon, delta } => Self::Approximate {
                epsilon: 2.0 * epsilon,
                delta: (delta * (1.0 + epsilon.exp())).min(1.0 - f64::EPSILON),
            },
            Self::DiscreteGaussian { scale, moved } => {
                Self::DiscreteGaussian { scale, moved: moved.saturating_mul(2) }
            }
            Self::SubsampledGaussian { sigma, rate, steps, .. } => {
                Self::SubsampledGaussian { sigma, rate, steps, neighbours: Neighbours::Substitute }
            }
        }
    }

    /// Refuses numbers that make no sense.
    fn check(self) -> Result<(), LossError> {
        match self {
            Self::Gaussian { mu } if !MU_RANGE.contains(&mu) => {
                let requirement = "between 1e-150 and 1e150";
                Err(LossError::Argument { argument: "mu", value: mu, requirement })
            }
            Self::Gaussian { .. } => Ok(()),
            Self::Pure { epsilon } | Self::Laplace { epsilon } => not_negative("epsilon", epsilon).map(drop),
            Self::Approximate { epsilon, delta } => {
                not_negative("epsilon", epsilon)?;
                below_one("delta", delta).map(drop)
            }
            Self::DiscreteGaussian { scale, moved } => {
                positive("scale", scale)?;
                positive("moved", moved as f64).map(drop)
            }
            Self::SubsampledGaussian { sigma, rate, steps, neighbours } => {
                positive("steps", steps as f64)?;
                Step::from(SubsampledGaussian { sigma, rate, relation: neighbours }).validate()
            }
        }
    }
}

/// The largest number of Gaussian steps, each with mu = sensitivity / scale = `mu_per_step`, whose
/// composition is (epsilon, delta)-private. \[RKH21\] Theorem 2.4, solved for the number of steps.
///
/// Exact at the boundary: the candidates next to the solution are tried, and a count is accepted if its delta
/// exceeds the budget by no more than rounding ([`RELATIVE_ACCURACY`]), so that a budget that was computed
/// for k steps buys k. Counts above 2^46 are rounded, and those beyond `u64` are cut off.
pub fn steps_within(epsilon: f64, delta: f64, mu_per_step: f64) -> Result<u64, LossError> {
    positive("mu_per_step", mu_per_step)?;
    let ratio = gaussian_mu(epsilon, delta)? / mu_per_step;
    let estimate = (ratio * ratio) as u64; // a cast saturates
    if estimate >= MOST_EXACT_STEPS {
        return Ok(estimate);
    }
    let limit = delta * (1.0 + RELATIVE_ACCURACY);
    let fits = |steps: u64| steps == 0 || delta_at(epsilon, mu_per_step * (steps as f64).sqrt()) <= limit;
    // The estimate is off by far less than one step, but may have been rounded over the boundary.
    let steps = [estimate + 1, estimate].into_iter().find(|&steps| fits(steps));
    Ok(steps.unwrap_or(estimate.saturating_sub(1)))
}

/// The loss of every record when disjoint parties each spend their own (epsilon, delta): the largest epsilon
/// and the largest delta. Of no parties: no loss.
///
/// A record belongs to one party, and a neighbouring table differs in one record of one party, so only that
/// party's outputs change: J parties at (epsilon, delta) are together (epsilon, delta), not J times that. It
/// does not hold for a record that several parties hold, or that may move from one party to another (two
/// parties then change).
pub fn parallel(parties: &[(f64, f64)]) -> Result<(f64, f64), LossError> {
    let mut worst = (0.0f64, 0.0f64);
    for &(epsilon, delta) in parties {
        worst.0 = worst.0.max(not_negative("epsilon", epsilon)?);
        worst.1 = worst.1.max(below_one("delta", delta)?);
    }
    Ok(worst)
}
