//! Several discretised steps composed: the cumulant function of the total loss, exponential tilts, and tail bounds.
//!
//! K(t) = ln sum over losses of mass e^(t loss) is that of the finite losses, added over steps. Tilting by t moves the
//! mean of the total loss to K'(t); Chernoff's bound for the tilted law, P_t(S >= s) <= exp(K(u) - K(t) - (u - t) s)
//! for u > t (and the mirror image for u < t), says how wide a window must be.

use super::atoms::Atoms;
use std::rc::Rc;

/// A window leaves out a mass of at most e^-32 on each side: far below what discretisation costs.
pub(super) const LOG_TAIL: f64 = 32.0;
/// No tilt is steeper, in inverse standard deviations of the total: beyond, one loss is all that is left.
const STEEPEST: f64 = 64.0;
/// Distances of Chernoff's parameter from the tilt, in inverse standard deviations of the tilted total.
const DISTANCES: [f64; 14] = [0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 14.0, 20.0, 40.0, 80.0];

/// Steps of several kinds, each as often as it says, on one grid.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    pub(super) parts: Vec<(Rc<Atoms>, f64)>,
}

/// K, K' and K'' at one t.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cumulants {
    pub(super) value: f64,
    pub(super) mean: f64,
    pub(super) variance: f64,
}

/// A tilt and the losses between which the tilted total lies but for e^-[`LOG_TAIL`] on either side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tilt {
    pub(super) parameter: f64,
    pub(super) at: Cumulants,
    pub(super) least: f64,
    pub(super) most: f64,
}

impl Chain {
    pub(super) fn spacing(&self) -> f64 {
        self.parts.first().map_or(1.0, |(atoms, _)| atoms.spacing)
    }

    /// The number of steps.
    pub(super) fn steps(&self) -> f64 {
        self.parts.iter().map(|(_, times)| times).sum()
    }

    /// The mass of an infinite total loss: that not all of the steps have a finite one.
    pub(super) fn infinite(&self) -> f64 {
        let finite: f64 = self.parts.iter().map(|(atoms, times)| times * libm::log1p(-atoms.infinite)).sum();
        -libm::expm1(finite)
    }

    /// The largest finite total loss.
    pub(super) fn most(&self) -> f64 {
        self.parts.iter().map(|(atoms, times)| times * atoms.loss(atoms.mass.len() - 1)).sum()
    }

    /// The largest absolute loss of one step.
    pub(super) fn widest(&self) -> f64 {
        let width = |atoms: &Atoms| atoms.loss(0).abs().max(atoms.loss(atoms.mass.len() - 1).abs());
        self.parts.iter().map(|(atoms, _)| width(atoms)).fold(0.0, f64::max)
    }

    pub(super) fn cumulants(&self, t: f64) -> Cumulants {
        let mut total = Cumulants { value: 0.0, mean: 0.0, variance: 0.0 };
        for (atoms, times) in &self.parts {
            let one = atoms.cumulants(t);
            total.value += times * one.value;
            total.mean += times * one.mean;
            total.variance += times * one.variance;
        }
        total
    }

    /// The tilt whose mean is near `epsilon`; none if the mean is above it without one.
    pub(super) fn tilt_to(&self, epsilon: f64) -> Tilt {
        self.tilt_where(|_, at| epsilon - at.mean)
    }

    /// The tilt that suits the epsilon at which delta is `delta`, by the saddle point.
    pub(super) fn tilt_for(&self, delta: f64) -> Tilt {
        self.tilt_where(|t, at| {
            let width = t * at.variance.sqrt() * (2.0 * std::f64::consts::PI).sqrt();
            at.value - t * at.mean - libm::log((1.0 + width) * (1.0 + t)) - libm::log(delta)
        })
    }

    /// Bisects for the t > 0 at which `excess`, which falls in t, changes its sign. Any t is valid; a good one is fast.
    fn tilt_where(&self, excess: impl Fn(f64, Cumulants) -> f64) -> Tilt {
        let at = |t: f64| excess(t, self.cumulants(t));
        if at(0.0) <= 0.0 {
            return self.tilt(0.0);
        }
        let unit = 1.0 / self.cumulants(0.0).variance.sqrt().max(self.spacing());
        let mut high = unit;
        while high < STEEPEST * unit && at(high) > 0.0 {
            high *= 2.0;
        }
        let mut low = if high > unit { 0.5 * high } else { 0.0 };
        for _ in 0..12 {
            let middle = 0.5 * (low + high);
            if at(middle) > 0.0 { low = middle } else { high = middle }
        }
        self.tilt(0.5 * (low + high))
    }

    fn tilt(&self, parameter: f64) -> Tilt {
        let at = self.cumulants(parameter);
        let deviation = at.variance.sqrt().max(self.spacing());
        let bound =
            |distance: f64| (self.cumulants(parameter + distance).value - at.value + LOG_TAIL) / distance;
        let upper =
            DISTANCES.iter().map(|distance| bound(distance / deviation)).fold(f64::INFINITY, f64::min);
        let lower =
            DISTANCES.iter().map(|distance| bound(-distance / deviation)).fold(f64::NEG_INFINITY, f64::max);
        Tilt { parameter, at, least: lower, most: upper }
    }
}

impl Atoms {
    pub(super) fn cumulants(&self, t: f64) -> Cumulants {
        let last = self.loss(self.mass.len() - 1);
        let peak = if t > 0.0 { t * last } else { t * self.loss(0) };
        let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
        for (index, mass) in self.mass.iter().enumerate() {
            let loss = self.loss(index);
            let weight = mass * libm::exp(t * loss - peak);
            sum += weight;
            first += weight * loss;
            second += weight * loss * loss;
        }
        let mean = first / sum;
        let variance = (second / sum - mean * mean).max(0.0);
        Cumulants { value: libm::log(sum) + peak, mean, variance }
    }
}
