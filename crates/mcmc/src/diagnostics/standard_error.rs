//! How far estimates from draws may be from the truth: Monte Carlo standard errors.

use super::{Traces, ess_mean, ess_quantile, ess_sd};
use crate::special::beta_quantile;

/// Standard error of the mean.
pub fn mcse_mean(traces: &Traces) -> f64 {
    traces.sd() / ess_mean(traces).sqrt()
}

/// Standard error of the standard deviation, without assuming a normal distribution; NaN if all values are
/// equal.
///
/// Var(sd) = Var(variance) / (4 variance), the variance of the variance from the fourth moment.
pub fn mcse_sd(traces: &Traces) -> f64 {
    let centre = traces.mean();
    let squares = traces.map(|value| (value - centre).powi(2));
    let second = squares.mean();
    let fourth = squares.map(|value| value * value).mean();
    ((fourth - second * second) / ess_sd(traces) / second / 4.0).sqrt()
}

/// Standard error of the quantile at `probability`: half the distance of the order statistics between which
/// the quantile lies with the probability of one standard deviation either side. \[VGSCB21\]
pub fn mcse_quantile(traces: &Traces, probability: f64) -> f64 {
    let size = ess_quantile(traces, probability);
    if size.is_nan() {
        return f64::NAN;
    }
    // [VGSCB21]: the share of draws below the quantile has this beta distribution.
    let (a, b) = (size * probability + 1.0, size * (1.0 - probability) + 1.0);
    let mut sorted = traces.values().to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let last = (sorted.len() - 1) as f64;
    // Phi(-1) and Phi(1), to the digits that ArviZ and R posterior use.
    let place = |tail| beta_quantile(tail, a, b) * sorted.len() as f64 - 1.0;
    let lower = sorted[place(0.1586553).max(0.0).floor() as usize];
    let upper = sorted[place(0.8413447).clamp(0.0, last).ceil() as usize];
    0.5 * (upper - lower)
}
