//! What one step of a private chain asks of the records, and what that costs.
//!
//! Every step of a run asks the same, so that the number of steps that a budget buys is known before the first.
//!
//! **Sensitivity.** A record's term has norm at most C (its clip bound); exchanging a record moves the sum by at most 2C
//! (as in \[RKH21\] Theorem 3.5), adding or removing one by C. When the clipped records are counted along with the sum, the indicator of a clipped
//! record stands in one more coordinate with the weight w C, and the sensitivity is C sqrt(4 + w^2) for an exchange (the
//! indicator moves by w C at most, not by 2 w C), C sqrt(1 + w^2) otherwise.

use organza_release::Neighbours;
use organza_release::loss::pld::{self, SubsampledGaussian};
use organza_release::loss::{
    Composition, LossError, Mechanism, RELATIVE_ACCURACY, discrete_gaussian_total_variation, gaussian_mu,
    lattice_delta, steps_within,
};

use super::lattice::{STEPS, noise_steps};
use crate::CuratorError;

/// A limit of the loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// Epsilon, for all chains and their warm-up together.
    pub epsilon: f64,
    /// Delta, for all chains and their warm-up together.
    pub delta: f64,
    /// Which tables are neighbours.
    pub neighbours: Neighbours,
}

/// The sum of clipped gradients, with noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GradientQuery {
    /// How often a step asks.
    pub times: u32,
    /// The largest norm of one record's gradient.
    pub clip: f64,
    /// Standard deviation of the noise over the clip bound.
    pub noise: f64,
    /// The probability with which each record is in the sum; 1 takes all.
    pub rate: f64,
}

/// The sum of clipped log-likelihood ratios, with noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioQuery {
    /// The largest ratio of one record over the distance of the two points: a bound on the slope of ln p(x | theta).
    pub clip: f64,
    /// Standard deviation of the noise over the clip bound times the distance.
    pub noise: f64,
}

/// The questions of one step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepQueries {
    /// Gradients, if the step needs them.
    pub gradient: Option<GradientQuery>,
    /// One ratio, if the step needs it.
    pub ratio: Option<RatioQuery>,
    /// Weight of the count of clipped records in each question; 0 does not count them. The count is a statistic of the
    /// records, so it is never known without noise: a weight of 0.1 makes the other noise larger by an eighth of a percent.
    pub count_weight: f64,
    /// Numbers in a gradient.
    pub dimension: usize,
}

/// Less noise than this part of a clip bound protects nobody, and the lattice would be too coarse for it.
const LEAST_NOISE: f64 = 1e-6;
/// The weight of the count of clipped records unless another is asked for.
pub const COUNT_WEIGHT: f64 = 0.1;

impl StepQueries {
    /// Refuses what cannot be asked. A rehearsal may do without noise, a private chain may not.
    pub(super) fn check(&self, least_noise: f64) -> Result<(), CuratorError> {
        let positive = |what: &'static str, value: f64| {
            let reason = format!("{value} must be a positive number");
            if value > 0.0 && value.is_finite() { Ok(()) } else { Err(CuratorError::setting(what, reason)) }
        };
        let enough = |what: &'static str, noise: f64| {
            let reason = format!("{noise} must be a number from {least_noise} to 1e12");
            if (least_noise..=1e12).contains(&noise) {
                Ok(())
            } else {
                Err(CuratorError::setting(what, reason))
            }
        };
        if let Some(query) = self.gradient {
            positive("gradient.clip", query.clip)?;
            enough("gradient.noise", query.noise)?;
            if !(query.rate > 0.0 && query.rate <= 1.0) || query.times == 0 {
                let reason = format!("{} must be above 0 and at most 1", query.rate);
                return Err(CuratorError::setting("gradient.rate", reason));
            }
            if query.rate < 1.0 && self.ratio.is_some() {
                let reason =
                    "a step that samples records for its gradients cannot ask for a ratio of all records";
                return Err(CuratorError::setting("gradient.rate", reason));
            }
        }
        if let Some(query) = self.ratio {
            positive("ratio.clip", query.clip)?;
            enough("ratio.noise", query.noise)?;
        }
        if !(0.0..=1.0).contains(&self.count_weight) {
            return Err(CuratorError::setting("queries.count_weight", "must be from 0 to 1"));
        }
        if self.gradient.is_none() && self.ratio.is_none() {
            return Err(CuratorError::setting("queries.step", "asks for nothing"));
        }
        Ok(())
    }

    /// The mu of all Gaussian questions of one step together: \[RKH21\] Theorem 3.5, whose tau is our noise over 2.
    fn gaussian_mu(&self, neighbours: Neighbours) -> f64 {
        let sensitivity = sensitivity(neighbours, self.count_weight);
        let one = |noise: f64| (sensitivity * STEPS / noise_steps(noise) as f64).powi(2);
        let gradients = self.gradient.map_or(0.0, |query| f64::from(query.times) * one(query.noise));
        (gradients + self.ratio.map_or(0.0, |query| one(query.noise))).sqrt()
    }

    fn subsampled(&self, neighbours: Neighbours) -> Option<(pld::Step, u64)> {
        let query = self.gradient.filter(|query| query.rate < 1.0)?;
        // A record's term, its indicator included, has norm at most C sqrt(1 + w^2).
        let reach = libm::sqrt(1.0 + self.count_weight * self.count_weight);
        let sigma = noise_steps(query.noise) as f64 / STEPS / reach;
        let step = SubsampledGaussian { sigma, rate: query.rate, relation: neighbours };
        Some((step.into(), u64::from(query.times)))
    }

    /// What drawing noise on a lattice adds to delta in one step, as a total variation.
    pub(super) fn lattice_variation(&self) -> Result<f64, LossError> {
        let one = |noise: f64| discrete_gaussian_total_variation(noise_steps(noise) as f64);
        let counted = usize::from(self.count_weight > 0.0);
        let mut total = 0.0;
        if let Some(query) = self.gradient {
            total += f64::from(query.times) * (self.dimension + counted) as f64 * one(query.noise)?;
        }
        if let Some(query) = self.ratio {
            total += (1 + counted) as f64 * one(query.noise)?;
        }
        Ok(total)
    }

    /// The largest number of steps, over all chains, that the budget covers.
    pub fn steps_within(&self, budget: &Budget) -> Result<u64, CuratorError> {
        self.check(LEAST_NOISE)?;
        let mut steps = self.continuous_steps(budget.epsilon, budget.delta, budget.neighbours)?;
        // The lattice takes its part of delta, a part in 1e10 or less; what is left must still buy the steps.
        for _ in 0..3 {
            let variation = steps as f64 * self.lattice_variation()?;
            let left = budget.delta - lattice_delta(budget.epsilon, variation);
            if left <= 0.0 {
                return Ok(0);
            }
            let covered = self.continuous_steps(budget.epsilon, left, budget.neighbours)?;
            if covered >= steps {
                break;
            }
            steps = covered;
        }
        Ok(steps)
    }

    fn continuous_steps(&self, epsilon: f64, delta: f64, neighbours: Neighbours) -> Result<u64, LossError> {
        match self.subsampled(neighbours) {
            Some((step, times)) => Ok(pld::steps_for(step, epsilon, delta)? / times),
            None => steps_within(epsilon, delta, self.gaussian_mu(neighbours)),
        }
    }

    /// Epsilon of a number of steps at this delta.
    pub fn epsilon(&self, steps: u64, delta: f64, neighbours: Neighbours) -> Result<f64, CuratorError> {
        if steps == 0 {
            return Ok(0.0);
        }
        let at = |delta: f64| match self.subsampled(neighbours) {
            Some((step, times)) => pld::epsilon_at_most(&[(step, steps * times)], delta),
            None => self.gaussian(steps, neighbours)?.epsilon(delta),
        };
        let variation = steps as f64 * self.lattice_variation()?;
        // A part in 10^9 of delta is nearly always enough for the lattice.
        let reserved = 1e-9 * delta;
        let epsilon = at(delta - reserved)?;
        if lattice_delta(epsilon, variation) <= reserved {
            return Ok(epsilon);
        }
        let left = delta - lattice_delta(epsilon, variation);
        // At an enormous epsilon the lattice spoils what the continuous noise would promise.
        if left <= 0.0 { Ok(f64::INFINITY) } else { Ok(at(left)?) }
    }

    /// The loss of a number of steps if all questions are Gaussian mechanisms on all records.
    pub fn gaussian(&self, steps: u64, neighbours: Neighbours) -> Result<Composition, LossError> {
        let mu = self.gaussian_mu(neighbours);
        Ok(Composition::of([Mechanism::Gaussian { mu }])?.repeat(steps))
    }

    /// Whether records are sampled, so that the loss has no closed form.
    pub fn is_subsampled(&self) -> bool {
        self.gradient.is_some_and(|query| query.rate < 1.0)
    }

    /// The same questions with all noises multiplied by one number, the smallest (to a part in 10,000 for sampled records) with
    /// which the budget covers `steps` steps.
    pub fn with_noise_for(&self, steps: u64, budget: &Budget) -> Result<Self, CuratorError> {
        self.check(LEAST_NOISE)?;
        if steps == 0 {
            return Err(CuratorError::setting("steps", "must be at least 1"));
        }
        let excess = |factor: f64| -> Result<f64, CuratorError> {
            let epsilon = self.scaled(factor).epsilon(steps, budget.delta, budget.neighbours)?;
            Ok(libm::log(epsilon.min(1e300)) - libm::log(budget.epsilon))
        };
        let accuracy = if self.is_subsampled() { 1e-4 } else { 1e-12 };
        let start = self.first_factor(steps, budget)?;
        Ok(self.scaled(smallest_covered(start, accuracy, excess)?))
    }

    /// About the factor of the noise that `steps` steps need: exact but for the lattice if all records are asked, by the central
    /// limit theorem of privacy losses otherwise (Bu et al. 2020: mu^2 = q^2 steps (e^(shift^2 / sigma^2) - 1)).
    fn first_factor(&self, steps: u64, budget: &Budget) -> Result<f64, CuratorError> {
        let (mu, steps) = (gaussian_mu(budget.epsilon, budget.delta)?, steps as f64);
        let Some(query) = self.gradient.filter(|query| query.rate < 1.0) else {
            return Ok(self.gaussian_mu(budget.neighbours) * steps.sqrt() / mu);
        };
        let times = steps * f64::from(query.times);
        let shift =
            sensitivity(budget.neighbours, 0.0) * libm::sqrt(1.0 + self.count_weight * self.count_weight);
        let sigma = shift / libm::log1p(mu * mu / (query.rate * query.rate * times)).sqrt();
        Ok(sigma / query.noise)
    }

    pub(super) fn scaled(&self, factor: f64) -> Self {
        let gradient = self.gradient.map(|query| GradientQuery { noise: factor * query.noise, ..query });
        let ratio = self.ratio.map(|query| RatioQuery { noise: factor * query.noise, ..query });
        Self { gradient, ratio, ..*self }
    }
}

/// Steps that a budget covers. The only way to make one checks that it does, so what holds one cannot overspend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Allowance {
    queries: StepQueries,
    steps: u64,
    budget: Budget,
}

impl Allowance {
    /// As many steps as the budget covers.
    pub fn all(queries: StepQueries, budget: Budget) -> Result<Self, CuratorError> {
        let steps = queries.steps_within(&budget)?;
        if steps == 0 {
            let reason = "the budget does not cover a single step: more noise, fewer questions in a step or a larger budget";
            return Err(CuratorError::setting("epsilon", reason));
        }
        Ok(Self { queries, steps, budget })
    }

    /// So many steps over all chains; refused if the budget does not cover them.
    pub fn of(queries: StepQueries, steps: u64, budget: Budget) -> Result<Self, CuratorError> {
        queries.check(LEAST_NOISE)?;
        let epsilon = queries.epsilon(steps, budget.delta, budget.neighbours)?;
        // A budget that was computed for so many steps must buy them, in spite of rounding.
        if epsilon > budget.epsilon * (1.0 + RELATIVE_ACCURACY) {
            let reason = format!("{steps} steps cost {epsilon} at this delta, more than {}", budget.epsilon);
            return Err(CuratorError::setting("epsilon", reason));
        }
        Ok(Self { queries, steps, budget })
    }

    /// What a step asks.
    pub fn queries(&self) -> &StepQueries {
        &self.queries
    }

    /// Steps over all chains.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The limit of the loss.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }
}

/// How far exchanging (or adding) a record moves a sum and the weighted count beside it, over the clip bound.
fn sensitivity(neighbours: Neighbours, weight: f64) -> f64 {
    let moved: f64 = match neighbours {
        Neighbours::Substitute => 4.0,
        Neighbours::AddRemove => 1.0,
    };
    libm::sqrt(moved + weight * weight)
}

/// The smallest factor, up to a relative accuracy from above, at which `excess`, which falls, is not positive: by the secant method in logarithms,
/// kept inside a bracket.
fn smallest_covered(
    start: f64,
    accuracy: f64,
    excess: impl Fn(f64) -> Result<f64, CuratorError>,
) -> Result<f64, CuratorError> {
    let (mut low, mut high) = (start, start);
    let mut at_low = excess(start)?;
    let mut at_high = at_low;
    let mut growth = 1.0 + 200.0 * accuracy;
    while at_high > 0.0 {
        (low, at_low) = (high, at_high);
        (high, growth) = (high * growth, growth * growth);
        at_high = excess(high)?;
    }
    while at_low <= 0.0 {
        (high, at_high) = (low, at_low);
        (low, growth) = (low / growth, growth * growth);
        at_low = excess(low)?;
    }
    while high / low > 1.0 + accuracy {
        let share = at_low / (at_low - at_high);
        // Near one end a secant creeps: it aims a little beyond the crossing, and never closer than the accuracy to an end.
        let share = (share + 0.3 * accuracy / libm::log(high / low)).clamp(0.02, 0.98);
        let middle = low * (high / low).powf(share);
        let found = excess(middle)?;
        if found <= 0.0 { (high, at_high) = (middle, found) } else { (low, at_low) = (middle, found) }
    }
    Ok(high)
}
