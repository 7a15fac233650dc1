//! Quantiles and intervals of draws.

use serde::{Deserialize, Serialize};

/// An interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

const NO_INTERVAL: Interval = Interval { lower: f64::NAN, upper: f64::NAN };

/// The quantile at `probability` by linear interpolation between order statistics (type 7 of R and NumPy).
///
/// NaN if there are no values, if one is NaN, or if the probability is not in \[0, 1\].
pub fn quantile(values: &[f64], probability: f64) -> f64 {
    sorted(values).map_or(f64::NAN, |values| quantile_of_sorted(&values, probability))
}

/// The interval that leaves the same share of draws on both sides; ends are NaN as in [`quantile`].
pub fn equal_tailed(values: &[f64], mass: f64) -> Interval {
    let Some(values) = sorted(values).filter(|_| (0.0..=1.0).contains(&mass)) else { return NO_INTERVAL };
    let tail = 0.5 * (1.0 - mass);
    Interval { lower: quantile_of_sorted(&values, tail), upper: quantile_of_sorted(&values, 1.0 - tail) }
}

/// The shortest interval between two draws that are floor(mass S) places apart, the first of equally short
/// ones; ends are NaN as in [`quantile`].
///
/// It assumes one mode: for several, the region of highest density is not an interval.
pub fn highest_density(values: &[f64], mass: f64) -> Interval {
    let Some(values) = sorted(values).filter(|_| (0.0..=1.0).contains(&mass)) else { return NO_INTERVAL };
    let apart = ((mass * values.len() as f64).floor() as usize).min(values.len() - 1);
    let mut best = Interval { lower: values[0], upper: values[apart] };
    for (lower, upper) in values.iter().zip(&values[apart..]) {
        if upper - lower < best.upper - best.lower {
            best = Interval { lower: *lower, upper: *upper };
        }
    }
    best
}

/// The values in order, or nothing if there are none or one is NaN.
fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    if values.is_empty() || values.iter().any(|value| value.is_nan()) {
        return None;
    }
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    Some(values)
}

fn quantile_of_sorted(values: &[f64], probability: f64) -> f64 {
    if !(0.0..=1.0).contains(&probability) {
        return f64::NAN;
    }
    let place = probability * (values.len() - 1) as f64;
    let (below, share) = (place.floor() as usize, place.fract());
    let (lower, upper) = (values[below], values[(below + 1).min(values.len() - 1)]);
    // Also right between two equal infinities.
    if lower == upper { lower } else { (1.0 - share) * lower + share * upper }
}
