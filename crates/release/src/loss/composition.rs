//! Several mechanisms on the same records, and one mechanism on disjoint records.
//!
//! - Gaussian mechanisms compose *exactly* to one with mu^2 = sum of mu_i^2: \[DRS22\] Corollary 3.3, which
//!   is \[RKH21\] Theorem 2.4 (the mu there is sum D_i^2 / (2 s_i^2), half of our mu^2).
//! - Pure epsilons add; for approximate mechanisms epsilons and deltas add (basic composition).
//! - A mixture is the basic composition of its Gaussian part with the rest: delta(epsilon) is the delta of
//!   the Gaussian part at epsilon minus the sum of the other epsilons, plus the sum of the other deltas. An
//!   upper bound.
//!
//! **When it holds.** The mechanisms may look at earlier outputs, but how much noise each adds must be fixed
//! in advance. When all are Gaussian, or all pure, the amounts may be chosen adaptively too, as long as the
//! total stays within a limit that was fixed in advance.

use super::RELATIVE_ACCURACY;
use super::error::{LossError, below_one, not_negative, positive, representable};
use super::gaussian::{delta_at, gaussian_delta, gaussian_epsilon, gaussian_mu};
use super::sum::CompensatedSum;
use serde::{Deserialize, Serialize};

/// Squares of mu outside of this range would overflow or vanish.
const MU_RANGE: std::ops::RangeInclusive<f64> = 1e-150..=1e150;
/// Counts beyond this are not distinguished by the arithmetic of doubles.
const MOST_EXACT_STEPS: u64 = 1 << 46;

/// The loss of one mechanism, as much of it as composition needs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Mechanism {
    /// Gaussian noise.
    Gaussian {
        /// L2 sensitivity over scale.
        mu: f64,
    },
    /// A mechanism with delta = 0, such as Laplace noise.
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
}

/// The total loss of any number of mechanisms on the same records.
///
/// ```
/// use organza_release::loss::{Composition, Mechanism};
///
/// let mut total = Composition::of([Mechanism::Gaussian { mu: 0.3 }, Mechanism::Gaussian { mu: 0.4 }])?;
/// assert_eq!(total.mu(), 0.5);
/// total.push(Mechanism::Pure { epsilon: 0.1 })?;
/// assert!(total.epsilon(1e-6)? > 0.1);
/// # Ok::<(), organza_release::loss::LossError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Composition {
    mu_squared: CompensatedSum,
    epsilon: CompensatedSum,
    delta: CompensatedSum,
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
        match mechanism {
            Mechanism::Gaussian { mu } => {
                if !MU_RANGE.contains(&mu) {
                    let requirement = "between 1e-150 and 1e150";
                    return Err(LossError::Argument { argument: "mu", value: mu, requirement });
                }
                self.mu_squared.add(mu * mu); // [DRS22] Corollary 3.3, [RKH21] Theorem 2.4
            }
            Mechanism::Pure { epsilon } => self.epsilon.add(not_negative("epsilon", epsilon)?),
            Mechanism::Approximate { epsilon, delta } => {
                let (epsilon, delta) = (not_negative("epsilon", epsilon)?, below_one("delta", delta)?);
                self.epsilon.add(epsilon);
                self.delta.add(delta);
            }
        }
        Ok(())
    }

    /// Adds all mechanisms of another composition, on the same records.
    pub fn append(&mut self, other: &Composition) {
        self.mu_squared.add(other.mu_squared.total());
        self.epsilon.add(other.epsilon.total());
        self.delta.add(other.delta.total());
    }

    /// The same composition `count` times over; nothing at all for a count of 0.
    #[must_use]
    pub fn repeat(&self, count: u64) -> Self {
        let count = count as f64;
        Self {
            mu_squared: self.mu_squared.times(count),
            epsilon: self.epsilon.times(count),
            delta: self.delta.times(count),
        }
    }

    /// The mu of the Gaussian part, sqrt(sum of mu_i^2): exact up to rounding. 0 without a Gaussian part.
    pub fn mu(&self) -> f64 {
        self.mu_squared.total().sqrt()
    }

    /// The delta at `epsilon`, at most 1.
    ///
    /// It is 1, which promises nothing, below the sum of the epsilons of the pure and approximate mechanisms.
    /// For Gaussian mechanisms alone it is exact, with the accuracy of [`gaussian_delta`].
    pub fn delta(&self, epsilon: f64) -> Result<f64, LossError> {
        let remaining = not_negative("epsilon", epsilon)? - self.epsilon.total();
        if remaining < 0.0 {
            return Ok(1.0);
        }
        let mu = self.mu();
        let gaussian = if mu == 0.0 { 0.0 } else { gaussian_delta(remaining, mu)? };
        Ok((gaussian + self.delta.total()).min(1.0))
    }

    /// The smallest epsilon at `delta`; never below the truth by more than rounding.
    ///
    /// `delta` may be 0 if there is neither a Gaussian nor an approximate mechanism. A delta that no epsilon
    /// reaches is an error that says which delta would do. For Gaussian mechanisms alone the result is exact,
    /// with the accuracy of [`gaussian_epsilon`].
    pub fn epsilon(&self, delta: f64) -> Result<f64, LossError> {
        below_one("delta", delta)?;
        let (mu, offset, least) = (self.mu(), self.epsilon.total(), self.delta.total());
        let remaining = delta - least;
        if remaining < 0.0 || (mu > 0.0 && remaining == 0.0) {
            return Err(LossError::DeltaTooSmall { delta, least });
        }
        let gaussian = if mu == 0.0 { 0.0 } else { gaussian_epsilon(remaining, mu)? };
        let total = offset + gaussian;
        // Rounded up, so that `total - offset` is not below `gaussian`.
        let rounded_up = if offset > 0.0 && gaussian > 0.0 { total.next_up() } else { total };
        representable("epsilon", rounded_up)
    }

    /// [`parallel`] for disjoint parties of which each has run several mechanisms: at every epsilon and delta
    /// at least the loss of the worst party.
    #[must_use]
    pub fn parallel(parties: &[Composition]) -> Self {
        let largest = |part: fn(&Composition) -> CompensatedSum| {
            parties.iter().map(|party| part(party).total()).fold(0.0, f64::max)
        };
        let whole = |value: f64| std::iter::once(value).collect();
        Self {
            mu_squared: whole(largest(|party| party.mu_squared)),
            epsilon: whole(largest(|party| party.epsilon)),
            delta: whole(largest(|party| party.delta)),
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
