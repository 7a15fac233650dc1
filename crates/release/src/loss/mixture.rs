//! The bounds behind [`Composition`]: closed forms, basic and concentrated composition, and the law of the loss on a grid.

use super::composition::{Composition, Mechanism};
use super::discrete_gaussian::discrete_gaussian_delta;
use super::error::{LossError, representable};
use super::gaussian::{gaussian_delta, gaussian_epsilon};
use super::lattice::{discrete_gaussian_total_variation, lattice_delta};
use super::pld::{LARGEST_SCALE, Step, SubsampledGaussian};
use super::sum::CompensatedSum;
use super::zcdp::{zcdp_delta, zcdp_epsilon};

/// More kinds of mechanisms than this are sorted into classes of similar epsilons before they are put on a grid.
const MOST_KINDS: usize = 24;
/// Classes of epsilons in a doubling.
const CLASSES: f64 = 8.0;
/// No loss of one mechanism on a grid is larger: exponentials stay finite.
const LARGEST_LOSS: f64 = 300.0;
/// Noise of one mechanism on a grid goes as far, in standard deviations.
const REACH: f64 = 15.0;
/// Epsilons below this part of the largest are added up: a grid that holds both would not see them.
const NEGLIGIBLE: f64 = 1e-9;
/// The sum of so coarse discrete noise is still a discrete Gaussian, to 16 digits.
const LEAST_CLOSED_SCALE: f64 = 2.0;
/// Part of delta that is set aside for a lattice first.
const RESERVE: f64 = 1e-3;

/// Sums over the mechanisms that are not Gaussian.
struct Totals {
    /// Of pure, Laplace and approximate mechanisms.
    epsilon: f64,
    delta: f64,
    /// Of everything, the Gaussian part included; infinite if something has none.
    rho: f64,
    /// Of the noise that has no epsilon, the Gaussian part included.
    noise_rho: f64,
    /// Whether all noise without an epsilon is Gaussian.
    only_gaussian: bool,
}

/// The steps of a composition for the law of the loss, and what is added to it.
pub(super) struct Grid {
    pub(super) steps: Vec<(Step, u64)>,
    epsilon: f64,
    delta: f64,
    variation: f64,
    /// Whether the steps are the mechanisms as they are, so that a lower bound holds too.
    pub(super) exact: bool,
}

impl Composition {
    /// The only mechanism that is not Gaussian, and how often, if there is nothing else.
    fn single(&self) -> Option<(Mechanism, u64)> {
        match self.others() {
            [one] if self.mu() == 0.0 => Some(*one),
            _ => None,
        }
    }

    pub(super) fn closed_delta(&self, epsilon: f64) -> Result<Option<f64>, LossError> {
        if self.others().is_empty() {
            let mu = self.mu();
            return Ok(Some(if mu == 0.0 { 0.0 } else { gaussian_delta(epsilon, mu)? }));
        }
        Ok(match self.single() {
            Some((Mechanism::Laplace { epsilon: most }, 1)) => {
                Some((-libm::expm1(0.5 * (epsilon - most))).max(0.0))
            }
            Some((Mechanism::Pure { epsilon: most }, 1)) => Some(response_delta(epsilon, most, 0.0)),
            Some((Mechanism::Approximate { epsilon: most, delta }, 1)) => {
                Some(response_delta(epsilon, most, delta))
            }
            Some((Mechanism::DiscreteGaussian { scale, moved }, times)) if is_closed(scale, moved, times) => {
                Some(discrete_gaussian_delta(epsilon, scale, moved.saturating_mul(times))?)
            }
            _ => None,
        })
    }

    pub(super) fn closed_epsilon(&self, delta: f64) -> Result<Option<f64>, LossError> {
        if self.others().is_empty() {
            let mu = self.mu();
            return match (mu == 0.0, delta == 0.0) {
                (true, _) => Ok(Some(0.0)),
                (false, true) => Err(LossError::DeltaTooSmall { delta, least: 0.0 }),
                (false, false) => Ok(Some(gaussian_epsilon(delta, mu)?)),
            };
        }
        match self.single() {
            Some((Mechanism::Laplace { epsilon }, 1)) => {
                Ok(Some((epsilon + 2.0 * libm::log1p(-delta)).max(0.0)))
            }
            Some((Mechanism::Pure { epsilon }, 1)) => response_epsilon(delta, epsilon, 0.0).map(Some),
            Some((Mechanism::Approximate { epsilon, delta: least }, 1)) => {
                response_epsilon(delta, epsilon, least).map(Some)
            }
            Some((Mechanism::DiscreteGaussian { scale, moved }, times)) if is_closed(scale, moved, times) => {
                let total = moved.saturating_mul(times);
                counts_epsilon(delta, scale, total).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn totals(&self) -> Totals {
        let gaussian = 0.5 * self.mu().powi(2);
        let (mut epsilon, mut delta) = (CompensatedSum::default(), CompensatedSum::default());
        let (mut pure_rho, mut noise_rho, mut only_gaussian) = (0.0, gaussian, true);
        for (mechanism, times) in self.others() {
            let times = *times as f64;
            match *mechanism {
                Mechanism::Gaussian { .. } => {}
                Mechanism::Pure { epsilon: one } | Mechanism::Laplace { epsilon: one } => {
                    epsilon.add(times * one);
                    pure_rho += times * 0.5 * one * one;
                }
                Mechanism::Approximate { epsilon: one, delta: least } => {
                    epsilon.add(times * one);
                    delta.add(times * least);
                    pure_rho += times * 0.5 * one * one;
                }
                Mechanism::DiscreteGaussian { scale, moved } => {
                    noise_rho += times * 0.5 * moved as f64 / (scale * scale);
                    only_gaussian = false;
                }
                Mechanism::SubsampledGaussian { .. } => {
                    noise_rho = f64::INFINITY;
                    only_gaussian = false;
                }
            }
        }
        let (epsilon, delta) = (epsilon.total(), delta.total());
        Totals { epsilon, delta, rho: pure_rho + noise_rho, noise_rho, only_gaussian }
    }

    pub(super) fn basic_delta(&self, epsilon: f64) -> Result<f64, LossError> {
        let totals = self.totals();
        let remaining = epsilon - totals.epsilon;
        if remaining < 0.0 {
            return Ok(1.0);
        }
        let noise = match (totals.noise_rho == 0.0, totals.only_gaussian) {
            (true, _) => 0.0,
            (_, true) => gaussian_delta(remaining, self.mu())?,
            (_, false) => concentrated_delta(totals.noise_rho, remaining)?,
        };
        Ok((noise + totals.delta).min(1.0))
    }

    pub(super) fn basic_epsilon(&self, delta: f64) -> Result<f64, LossError> {
        let totals = self.totals();
        let remaining = delta - totals.delta;
        let noisy = totals.noise_rho > 0.0;
        if remaining < 0.0 || (noisy && remaining == 0.0) {
            return Err(LossError::DeltaTooSmall { delta, least: totals.delta });
        }
        let noise = match (noisy, totals.only_gaussian) {
            (false, _) => 0.0,
            (_, true) => gaussian_epsilon(remaining, self.mu())?,
            (_, false) => concentrated_epsilon(totals.noise_rho, remaining)?,
        };
        let total = totals.epsilon + noise;
        // Rounded up, so that the difference to the sum of epsilons is not below that of the noise.
        let rounded_up = if totals.epsilon > 0.0 && noise > 0.0 { total.next_up() } else { total };
        representable("epsilon", rounded_up)
    }

    pub(super) fn concentrated_delta(&self, epsilon: f64) -> Result<f64, LossError> {
        let totals = self.totals();
        Ok((concentrated_delta(totals.rho, epsilon)? + totals.delta).min(1.0))
    }

    pub(super) fn concentrated_epsilon(&self, delta: f64) -> Result<f64, LossError> {
        let totals = self.totals();
        let remaining = delta - totals.delta;
        if remaining <= 0.0 {
            return Err(LossError::DeltaTooSmall { delta, least: totals.delta });
        }
        concentrated_epsilon(totals.rho, remaining)
    }

    /// The mechanisms as steps; none if there are too many kinds or their losses are beyond any use.
    pub(super) fn grid(&self) -> Option<Grid> {
        let epsilon_of = |mechanism: &Mechanism| match *mechanism {
            Mechanism::Pure { epsilon }
            | Mechanism::Laplace { epsilon }
            | Mechanism::Approximate { epsilon, .. } => Some(epsilon),
            _ => None,
        };
        let epsilons = self.others().iter().filter_map(|(mechanism, _)| epsilon_of(mechanism));
        let negligible = NEGLIGIBLE * epsilons.fold(0.0, f64::max);
        let rounded = self.others().len() > MOST_KINDS;
        let (mut mu_squared, mut rest) = (self.mu().powi(2), Composition::default());
        let mut grid = Grid { steps: vec![], epsilon: 0.0, delta: 0.0, variation: 0.0, exact: !rounded };
        for (mechanism, times) in self.others() {
            let count = *times as f64;
            match (*mechanism, epsilon_of(mechanism)) {
                (Mechanism::DiscreteGaussian { scale, moved }, _) if scale > LARGEST_SCALE => {
                    let moved = count * moved as f64;
                    mu_squared += moved / (scale * scale);
                    grid.variation += moved * discrete_gaussian_total_variation(scale).ok()?;
                    grid.exact = false;
                }
                (mechanism, Some(epsilon)) if epsilon <= negligible => {
                    grid.epsilon += count * epsilon;
                    if let Mechanism::Approximate { delta, .. } = mechanism {
                        grid.delta += count * delta;
                        grid.exact = false;
                    }
                }
                (mechanism, _) => rest.add(if rounded { class(mechanism) } else { mechanism }, *times),
            }
        }
        if mu_squared > 0.0 {
            grid.steps.push((Step::Gaussian { mu: mu_squared.sqrt() }, 1));
        }
        grid.steps.extend(rest.others().iter().filter_map(|(mechanism, times)| step(*mechanism, *times)));
        let usable = grid.steps.iter().all(|(step, _)| largest_loss(*step) <= LARGEST_LOSS);
        (usable && !grid.steps.is_empty() && grid.steps.len() <= MOST_KINDS + 1).then_some(grid)
    }
}

impl Grid {
    /// An upper bound of delta from one of the steps.
    pub(super) fn delta(
        &self,
        epsilon: f64,
        at_most: impl Fn(&[(Step, u64)], f64) -> Result<f64, LossError>,
    ) -> Result<f64, LossError> {
        let remaining = epsilon - self.epsilon;
        if remaining < 0.0 {
            return Ok(1.0);
        }
        let of_steps = at_most(&self.steps, remaining)?;
        Ok((of_steps + self.delta + lattice_delta(epsilon, self.variation)).min(1.0))
    }

    /// An upper bound of epsilon from one of the steps.
    pub(super) fn epsilon(
        &self,
        delta: f64,
        at_most: impl Fn(&[(Step, u64)], f64) -> Result<f64, LossError>,
    ) -> Result<f64, LossError> {
        let too_small = LossError::DeltaTooSmall { delta, least: self.delta };
        let whole = delta - self.delta;
        if whole <= 0.0 {
            return Err(too_small);
        }
        if self.variation == 0.0 {
            return Ok((at_most(&self.steps, whole)? + self.epsilon).next_up());
        }
        // The lattice takes more at a larger epsilon: what is set aside is checked.
        let mut reserve = RESERVE * whole;
        while reserve < whole {
            let epsilon = (at_most(&self.steps, whole - reserve)? + self.epsilon).next_up();
            let needed = lattice_delta(epsilon, self.variation);
            if needed <= reserve {
                return Ok(epsilon);
            }
            reserve = (2.0 * reserve).max(1.1 * needed);
        }
        Err(too_small)
    }
}

/// The same kind of mechanism with an epsilon that is rounded up.
fn class(mechanism: Mechanism) -> Mechanism {
    let up = |epsilon: f64| libm::exp2((CLASSES * libm::log2(epsilon)).ceil() / CLASSES).max(epsilon);
    match mechanism {
        Mechanism::Pure { epsilon } => Mechanism::Pure { epsilon: up(epsilon) },
        Mechanism::Laplace { epsilon } => Mechanism::Laplace { epsilon: up(epsilon) },
        Mechanism::Approximate { epsilon, delta } => {
            Mechanism::Approximate { epsilon: up(epsilon), delta: if delta > 0.0 { up(delta) } else { 0.0 } }
        }
        other => other,
    }
}

fn step(mechanism: Mechanism, times: u64) -> Option<(Step, u64)> {
    match mechanism {
        Mechanism::Gaussian { .. } => None,
        Mechanism::Pure { epsilon } => Some((Step::Approximate { epsilon, delta: 0.0 }, times)),
        Mechanism::Approximate { epsilon, delta } => Some((Step::Approximate { epsilon, delta }, times)),
        Mechanism::Laplace { epsilon } => Some((Step::Laplace { epsilon }, times)),
        Mechanism::DiscreteGaussian { scale, moved } => {
            Some((Step::DiscreteGaussian { scale }, moved.saturating_mul(times)))
        }
        Mechanism::SubsampledGaussian { sigma, rate, steps, neighbours } => {
            let step = SubsampledGaussian { sigma, rate, relation: neighbours };
            Some((step.into(), steps.saturating_mul(times)))
        }
    }
}

/// About the largest loss of a step that is put on a grid.
fn largest_loss(step: Step) -> f64 {
    let gaussian = |mu: f64| mu * (0.5 * mu + REACH);
    match step {
        Step::Approximate { epsilon, .. } | Step::Laplace { epsilon } => epsilon,
        Step::Gaussian { mu } => gaussian(mu),
        Step::DiscreteGaussian { scale } => gaussian(1.0 / scale),
        Step::SubsampledGaussian(step) => gaussian(2.0 / step.sigma),
    }
}

fn is_closed(scale: f64, moved: u64, times: u64) -> bool {
    scale >= LEAST_CLOSED_SCALE || moved.saturating_mul(times) == 1
}

fn concentrated_delta(rho: f64, epsilon: f64) -> Result<f64, LossError> {
    match rho {
        0.0 => Ok(0.0),
        rho if rho.is_finite() => zcdp_delta(rho, epsilon),
        _ => Ok(1.0),
    }
}

fn concentrated_epsilon(rho: f64, delta: f64) -> Result<f64, LossError> {
    match rho {
        0.0 => Ok(0.0),
        rho if rho.is_finite() => zcdp_epsilon(rho, delta.min(1.0 - f64::EPSILON)),
        _ => Err(LossError::Overflow { quantity: "rho" }),
    }
}

/// The delta of randomised response that tells all with probability `least`.
fn response_delta(epsilon: f64, most: f64, least: f64) -> f64 {
    let finite = -libm::expm1(epsilon - most) / (1.0 + libm::exp(-most));
    least + (1.0 - least) * finite.max(0.0)
}

fn response_epsilon(delta: f64, most: f64, least: f64) -> Result<f64, LossError> {
    if delta < least {
        return Err(LossError::DeltaTooSmall { delta, least });
    }
    let share = (delta - least) / (1.0 - least) * (1.0 + libm::exp(-most));
    Ok(if share < 1.0 { (most + libm::log1p(-share)).max(0.0) } else { 0.0 })
}

/// The epsilon of counts with discrete Gaussian noise by bisection, on the safe side.
fn counts_epsilon(delta: f64, scale: f64, moved: u64) -> Result<f64, LossError> {
    if delta == 0.0 {
        return Err(LossError::DeltaTooSmall { delta, least: 0.0 });
    }
    let holds = |epsilon: f64| Ok(discrete_gaussian_delta(epsilon, scale, moved)? <= delta);
    if holds(0.0)? {
        return Ok(0.0);
    }
    let (mut low, mut high) = (0.0, zcdp_epsilon(0.5 * moved as f64 / (scale * scale), delta)?);
    while !holds(high)? {
        high = representable("epsilon", 1.0 + 2.0 * high)?; // rounding only
    }
    while high - low > 1e-13 * high {
        let middle = 0.5 * (low + high);
        if holds(middle)? { high = middle } else { low = middle }
    }
    Ok(high)
}
