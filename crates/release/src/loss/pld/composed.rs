//! Composition of steps: bounds of delta and epsilon, and the number of steps that a budget buys.

use super::atoms::{Atoms, Side};
use super::chain::Chain;
use super::curve::Curve;
use super::mechanism::{Direction, Step};
use crate::loss::error::{LossError, inside_unit_interval, not_negative};
use crate::privacy::Neighbours;
use std::rc::Rc;

/// Grid points in the window of the total loss, if that resolves the loss of one step.
const POINTS: f64 = 262_144.0;
/// At least so many grid points in a standard deviation of the loss of one step.
const POINTS_PER_DEVIATION: f64 = 40.0;
/// The finest grid has so many points in the window.
const MOST_POINTS: f64 = 2_097_152.0;
/// Losses of probability below this, in all steps together, count as infinite.
const TAIL: f64 = 1e-20;
/// The delta around which the grid is chosen; others are answered as safely, a little less tightly.
const TYPICAL_DELTA: f64 = 1e-7;
/// Doubles count steps exactly up to here, far above what a grid resolves.
const MOST_STEPS: u64 = 1 << 40;

/// Bounds of a number: it is at least `lower` and at most `upper`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bracket {
    /// No smaller than this.
    pub lower: f64,
    /// No larger than this: the number to promise.
    pub upper: f64,
}

/// The privacy loss of several steps on the same records. See the [module](self::super) for what is bounded and how.
#[derive(Debug, Clone)]
pub struct Composed {
    /// For every order of the neighbours: the chain with losses rounded up, and down.
    orders: Vec<(Chain, Chain)>,
}

/// Composes steps, each as many times as its number says.
///
/// Refuses an empty list, a step out of range and steps that were accounted for different relations of neighbours.
pub fn compose(steps: &[(Step, u64)]) -> Result<Composed, LossError> {
    let steps = validate(steps)?;
    let orders = directions(&steps).iter().map(|direction| {
        let spacing = spacing(&steps, *direction);
        let chain = |side| chain(&steps, *direction, side, |_| spacing);
        (chain(Side::Above), chain(Side::Below))
    });
    Ok(Composed { orders: orders.collect() })
}

/// The upper end of [`Composed::epsilon`] alone, for half of the work.
pub fn epsilon_at_most(steps: &[(Step, u64)], delta: f64) -> Result<f64, LossError> {
    inside_unit_interval("delta", delta)?;
    let steps = validate(steps)?;
    let mut found = 0.0f64;
    for direction in directions(&steps) {
        let spacing = spacing(&steps, *direction);
        found = found.max(upper_epsilon(&chain(&steps, *direction, Side::Above, |_| spacing), delta)?);
    }
    Ok(found)
}

/// The upper end of [`Composed::delta`] alone, for half of the work.
pub fn delta_at_most(steps: &[(Step, u64)], epsilon: f64) -> Result<f64, LossError> {
    not_negative("epsilon", epsilon)?;
    let steps = validate(steps)?;
    let one = |direction: &Direction| {
        let spacing = spacing(&steps, *direction);
        let above = chain(&steps, *direction, Side::Above, |_| spacing);
        Curve::new(&above, above.tilt_to(epsilon)).upper(epsilon)
    };
    Ok(directions(&steps).iter().map(one).fold(0.0, f64::max))
}

fn directions(steps: &[(Step, u64)]) -> &'static [Direction] {
    let lopsided = steps.iter().any(|(step, _)| step.is_lopsided());
    if lopsided { &[Direction::Removed, Direction::Added] } else { &[Direction::Removed] }
}

fn upper_epsilon(above: &Chain, delta: f64) -> Result<f64, LossError> {
    let finite = delta - above.infinite();
    if finite <= 0.0 {
        return Err(LossError::DeltaTooSmall { delta, least: above.infinite() });
    }
    let curve = Curve::new(above, above.tilt_for(finite));
    let (_, upper) = crossing(0.0, curve.most(), |epsilon| curve.upper(epsilon) <= delta);
    if curve.upper(upper) > delta {
        return Err(LossError::DeltaTooSmall { delta, least: above.infinite() });
    }
    Ok(upper)
}

/// The steps that are taken at all, if they can be composed.
fn validate(steps: &[(Step, u64)]) -> Result<Vec<(Step, u64)>, LossError> {
    for (step, _) in steps {
        step.validate()?;
    }
    let total = steps.iter().fold(0u64, |total, (_, times)| total.saturating_add(*times));
    if total == 0 || total > MOST_STEPS {
        let requirement = "at least 1 and at most 2^40";
        return Err(LossError::Argument { argument: "steps", value: total as f64, requirement });
    }
    let relations: Vec<Neighbours> = steps.iter().filter_map(|(step, _)| step.relation()).collect();
    if relations.windows(2).any(|pair| pair[0] != pair[1]) {
        return Err(LossError::MixedNeighbours);
    }
    Ok(steps.iter().copied().filter(|(_, times)| *times > 0).collect())
}

/// So many standard deviations that all steps together leave out less than [`TAIL`].
fn deviations(steps: &[(Step, u64)]) -> f64 {
    let total: f64 = steps.iter().map(|(_, times)| *times as f64).sum();
    // P(N(0, 1) > z) < e^(-z^2 / 2).
    (2.0 * libm::log(total / TAIL)).sqrt()
}

fn chain(steps: &[(Step, u64)], direction: Direction, side: Side, spacing: impl Fn(Step) -> f64) -> Chain {
    let reach = deviations(steps);
    let atoms = |step: Step| Rc::new(Atoms::of(&step.pair(direction), spacing(step), reach, side));
    Chain { parts: steps.iter().map(|(step, times)| (atoms(*step), *times as f64)).collect() }
}

/// The spacing of the grid: the window of the total loss in [`POINTS`] cells, or finer if one step needs it.
fn spacing(steps: &[(Step, u64)], direction: Direction) -> f64 {
    let reach = deviations(steps);
    let coarse = |step: Step| {
        let (least, most) = step.pair(direction).range(reach);
        (most - least) / 4096.0
    };
    // Grids of different spacing cannot be convolved, but their cumulants add.
    let chain = chain(steps, direction, Side::Above, coarse);
    let tilt = chain.tilt_for(TYPICAL_DELTA);
    let width = tilt.most - tilt.least;
    let one = (chain.cumulants(0.0).variance / chain.steps()).sqrt();
    // A tilt to the largest loss has no width at all; the losses of one step bound the grid from below.
    let floor = steps.iter().map(|(step, _)| coarse(*step)).fold(0.0, f64::max) * 4096.0 / POINTS;
    aligned(steps, (width / POINTS).min(one / POINTS_PER_DEVIATION).max(width / MOST_POINTS).max(floor))
}

/// The spacing or up to half of it, such that the atoms of the largest epsilon are on the grid, exactly.
fn aligned(steps: &[(Step, u64)], spacing: f64) -> f64 {
    let largest = steps.iter().filter_map(|(step, _)| step.atom()).fold(0.0, f64::max);
    if largest <= spacing {
        return spacing;
    }
    largest / libm::exp2(libm::log2(largest / spacing).ceil())
}

impl Composed {
    /// Bounds of the smallest delta for which the steps together are (epsilon, delta)-private.
    pub fn delta(&self, epsilon: f64) -> Result<Bracket, LossError> {
        not_negative("epsilon", epsilon)?;
        let mut found = Bracket { lower: 0.0, upper: 0.0 };
        for (above, below) in &self.orders {
            let upper = Curve::new(above, above.tilt_to(epsilon)).upper(epsilon);
            let lower = Curve::new(below, below.tilt_to(epsilon)).lower(epsilon);
            found = Bracket { lower: found.lower.max(lower), upper: found.upper.max(upper) };
        }
        Ok(found)
    }

    /// Bounds of the smallest epsilon for which the steps together are (epsilon, delta)-private.
    ///
    /// Fails if `delta` is below the mass that is left out of the grid, about 1e-20.
    pub fn epsilon(&self, delta: f64) -> Result<Bracket, LossError> {
        inside_unit_interval("delta", delta)?;
        let mut found = Bracket { lower: 0.0, upper: 0.0 };
        for (above, below) in &self.orders {
            let upper = upper_epsilon(above, delta)?;
            let tilt = below.tilt_for((delta - below.infinite()).max(f64::MIN_POSITIVE));
            let curve = Curve::new(below, tilt);
            // Far from the tilt the bound is trivial: the search starts from the largest point at which it is not.
            let step = 0.25 * tilt.at.variance.sqrt();
            let near = (-16..=16).map(|index| tilt.at.mean + f64::from(index) * step);
            let top = (1..40).map(|index| below.most() * (1.0 - libm::exp2(-0.5 * f64::from(index))));
            let mut points: Vec<f64> = near.chain(top).filter(|point| *point > 0.0).collect();
            points.sort_by(|one, other| other.total_cmp(one));
            let start = points.into_iter().find(|point| curve.lower(*point) > delta);
            let (lower, _) =
                crossing(start.unwrap_or(0.0), curve.most(), |epsilon| curve.lower(epsilon) <= delta);
            found = Bracket { lower: found.lower.max(lower), upper: found.upper.max(upper) };
        }
        Ok(found)
    }

    /// The same with only the first step, `times` times: the grid stays.
    fn repeated(&self, times: u64) -> Self {
        let again = |chain: &Chain| {
            let parts = chain.parts.iter().map(|(atoms, _)| (Rc::clone(atoms), times as f64));
            Chain { parts: parts.take(1).collect() }
        };
        Self { orders: self.orders.iter().map(|(above, below)| (again(above), again(below))).collect() }
    }

    fn upper_delta(&self, epsilon: f64) -> f64 {
        let one = |(above, _): &(Chain, Chain)| Curve::new(above, above.tilt_to(epsilon)).upper(epsilon);
        self.orders.iter().map(one).fold(0.0, f64::max)
    }
}

/// Neighbouring points from `least` to `most` between which `holds` becomes true; both `least` if it is true there.
fn crossing(least: f64, most: f64, holds: impl Fn(f64) -> bool) -> (f64, f64) {
    if holds(least) {
        return (least, least);
    }
    let (mut low, mut high) = (least, most.max(least));
    while high - low > 1e-13 * high + f64::MIN_POSITIVE {
        let middle = 0.5 * (low + high);
        if holds(middle) { high = middle } else { low = middle }
    }
    (low, high)
}

/// The largest number of steps whose upper bound stays within (epsilon, delta) together; 0 if one is too many.
///
/// The upper bound of delta decides, so that a step more may still be private by a margin that the bound does not see.
pub fn steps_for(step: Step, epsilon: f64, delta: f64) -> Result<u64, LossError> {
    not_negative("epsilon", epsilon)?;
    inside_unit_interval("delta", delta)?;
    let log_excess = |composed: &Composed, times: u64| {
        libm::log(composed.repeated(times).upper_delta(epsilon).max(f64::MIN_POSITIVE)) - libm::log(delta)
    };
    let mut high = 1;
    let mut composed = compose(&[(step, high)])?;
    while log_excess(&composed, high) <= 0.0 {
        if high >= MOST_STEPS / 4 {
            return Err(LossError::Overflow { quantity: "the number of steps" });
        }
        high *= 4;
        composed = compose(&[(step, high)])?;
    }
    if high == 1 {
        return Ok(0);
    }
    Ok(last_within(high / 4, high, |times| log_excess(&composed, times)))
}

/// The largest number from `low`, which is within, and below `high`, which is not, by the Illinois method in logarithms.
fn last_within(low: u64, high: u64, excess: impl Fn(u64) -> f64) -> u64 {
    let (mut low, mut high) = (low, high);
    let (mut at_low, mut at_high) = (excess(low), excess(high));
    let mut stuck = 0i32;
    while high - low > 1 {
        let (left, right) = (libm::log(low as f64), libm::log(high as f64));
        let guess = libm::exp(left + (right - left) * at_low / (at_low - at_high)).round() as u64;
        // Near the end the guess is exact to a few steps: it is tried from both sides.
        let middle = if stuck.abs() > 6 { low + (high - low) / 2 } else { guess.clamp(low + 1, high - 1) };
        let found = excess(middle);
        if found <= 0.0 {
            (low, at_low) = (middle, found);
            at_high *= if stuck > 0 { 0.5 } else { 1.0 };
            stuck = stuck.max(0) + 1;
        } else {
            (high, at_high) = (middle, found);
            at_low *= if stuck < 0 { 0.5 } else { 1.0 };
            stuck = stuck.min(0) - 1;
        }
    }
    low
}
