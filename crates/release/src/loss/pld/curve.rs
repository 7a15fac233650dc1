//! The law of the total loss of a chain near a tilt, by fast Fourier transform, and bounds of delta(epsilon) from it.
//!
//! The masses of one step are tilted by e^(t loss), transformed, raised to the number of steps and transformed back:
//! c_j is then the tilted law of the total loss, wrapped around a window of N grid points, and
//!
//! delta(epsilon) = sum over losses l > epsilon of e^(K(t) - t l) c(l) (1 - e^(epsilon - l)).
//!
//! Because the tilt puts the bulk of c near the epsilon in question, every error below is *relative* to delta.
//!
//! **Wrapping** adds mass to c, at most 2 e^-32 in all, and takes it from outside the window: an upper bound adds
//! the untilted mass above the window; a lower bound takes off the wrapped mass at the largest weight.
//! **Floating point.** The file `transform.rs` bounds the error of every c_j; it counts with its weight. Sums of
//! N terms, tilts and scales err relatively, by 4 u times the number of operations.
//! **Chernoff.** delta(epsilon) <= e^(K(t) - t epsilon) for every t >= 0, because (1 - e^(epsilon - l))_+ <= e^(t (l - epsilon)). It is looser near the tilt and
//! all that there is where the window is too wide for a transform: at an epsilon that few steps come nowhere near.

use super::chain::{Chain, LOG_TAIL, Tilt};
use super::transform::{Wrapped, tilted_law};

/// More points than this are not tried: the bounds are then 0 and Chernoff's.
const MOST_POINTS: usize = 1 << 22;

/// The tilted law of the total loss in a window.
pub(super) struct Curve {
    least: f64,
    most: f64,
    spacing: f64,
    centre: f64,
    tilt: Tilt,
    /// c_j e^(-t (l_j - centre)), e^(-t (l_j - centre)) and e^(-(l_j - centre)).
    weighted: Vec<f64>,
    weight: Vec<f64>,
    decay: Vec<f64>,
    /// e^(K(t) - t centre).
    scale: f64,
    /// The bound of the error of one c_j, of the relative error of all, and of an epsilon.
    point_error: f64,
    relative_error: f64,
    shift: f64,
    infinite: f64,
}

impl Curve {
    /// The law of `chain` around the losses of `tilt`.
    pub(super) fn new(chain: &Chain, tilt: Tilt) -> Self {
        let spacing = chain.spacing();
        let wanted = ((tilt.most - tilt.least) / spacing).ceil() + 3.0;
        let points = if wanted <= MOST_POINTS as f64 { (wanted as usize).next_power_of_two() } else { 0 };
        let law = (points > 0).then(|| tilted_law(chain, tilt.parameter, points));
        let first = (tilt.least / spacing).floor() as i64 - 1;
        let (least, centre) = (first as f64 * spacing, 0.5 * (tilt.least + tilt.most));
        let t = tilt.parameter;
        let distance = |index: usize| least + index as f64 * spacing - centre;
        let weight: Vec<f64> = (0..points).map(|index| libm::exp(-t * distance(index))).collect();
        let decay = (0..points).map(|index| libm::exp(-distance(index))).collect();
        let masses = |law: &Wrapped| -> Vec<f64> {
            let place = |index: usize| (first + index as i64 - law.offset).rem_euclid(points as i64) as usize;
            (0..points).map(|index| law.values[place(index)].max(0.0) * weight[index]).collect()
        };
        let weighted = law.as_ref().map(masses).unwrap_or_default();
        let (steps, widest) = (chain.steps(), chain.widest());
        let rounding = steps * (4.0 + t * widest) + points as f64 + tilt.at.value.abs() + t * tilt.most.abs();
        Self {
            least,
            most: if points > 0 { least + points as f64 * spacing } else { tilt.most },
            spacing,
            centre,
            tilt,
            weighted,
            weight,
            decay,
            scale: libm::exp(tilt.at.value - t * centre),
            point_error: law.map_or(0.0, |law| law.error),
            relative_error: 4.0 * f64::EPSILON * rounding,
            shift: 64.0 * f64::EPSILON * steps * (1.0 + widest),
            infinite: chain.infinite(),
        }
    }

    /// The largest loss in the window.
    pub(super) fn most(&self) -> f64 {
        self.most
    }

    /// An upper bound of delta, if the chain errs on the side of more loss.
    pub(super) fn upper(&self, epsilon: f64) -> f64 {
        let epsilon = epsilon - self.shift;
        let exponent = self.tilt.parameter * epsilon;
        let rounding = self.relative_error + 4.0 * f64::EPSILON * exponent.abs();
        let chernoff = libm::exp(self.tilt.at.value - exponent) * (1.0 + rounding);
        let finite = if epsilon < self.least || self.weighted.is_empty() {
            chernoff
        } else {
            let (sum, weights) = self.sums(epsilon);
            let beyond = libm::exp(-self.tilt.parameter * (self.most - self.centre) - LOG_TAIL);
            let within = sum * (1.0 + self.relative_error) + self.point_error * weights + beyond;
            (self.scale * within).min(chernoff)
        };
        (finite + self.infinite * (1.0 + self.relative_error)).min(1.0)
    }

    /// A lower bound of delta, if the chain errs on the side of less loss.
    pub(super) fn lower(&self, epsilon: f64) -> f64 {
        let epsilon = epsilon + self.shift;
        let (sum, weights) = self.sums(epsilon);
        let start = epsilon.max(self.least);
        let wrapped = 2.0 * libm::exp(-self.tilt.parameter * (start - self.centre) - LOG_TAIL);
        let finite = sum * (1.0 - self.relative_error) - self.point_error * weights - wrapped;
        (self.scale * finite).max(0.0) + self.infinite * (1.0 - self.relative_error)
    }

    /// The sums over losses above `epsilon` of (1 - e^(epsilon - l)) times the weighted masses, and times the weights.
    fn sums(&self, epsilon: f64) -> (f64, f64) {
        let start = (((epsilon - self.least) / self.spacing).floor() + 1.0).max(0.0) as usize;
        let start = start.min(self.weighted.len());
        let growth = libm::exp(epsilon - self.centre);
        let mut sums = (0.0, 0.0);
        for ((mass, weight), decay) in
            self.weighted[start..].iter().zip(&self.weight[start..]).zip(&self.decay[start..])
        {
            let part = (1.0 - growth * decay).max(0.0);
            sums.0 += mass * part;
            sums.1 += weight * part;
        }
        sums
    }
}
