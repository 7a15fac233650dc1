//! Effective sample sizes.
//!
//! **What they estimate.** The number of independent draws with the same variance of the mean. Chains that
//! alternate may be worth more than their number of draws; the estimate is at most S log10(S).
//! **Exactness.** Geyer's initial monotone sequence, which is conservative for reversible chains.
//! **Citation.** \[VGSCB21\].

use super::traces::{mean, variance};
use super::{Traces, autocovariance, quantile, rank_normalise, split};

/// Effective size of the values as they are; chains are not split.
///
/// NaN for chains of fewer than two draws and for values that are not finite; S if all values are equal.
pub fn ess(traces: &Traces) -> f64 {
    if traces.draws() < 2 || traces.values().iter().any(|value| !value.is_finite()) {
        return f64::NAN;
    }
    let size = traces.values().len() as f64;
    if traces.is_constant() {
        return size;
    }
    let (correlation, kept) = initial_positive(&autocorrelation(traces));
    let correlation = initial_monotone(correlation, kept);
    // The sum over pairs stops at an even lag, which counts once. [VGSCB21]
    let tau = -1.0 + 2.0 * correlation[..kept].iter().sum::<f64>() + correlation[kept];
    if tau.is_nan() { f64::NAN } else { size / tau.max(1.0 / libm::log10(size)) }
}

/// Autocorrelation from all chains together: 1 - (W - mean autocovariance) / variance.
fn autocorrelation(traces: &Traces) -> Vec<f64> {
    let draws = traces.draws() as f64;
    let covariance = autocovariance(traces);
    let within = covariance[0] * draws / (draws - 1.0);
    let means: Vec<f64> = traces.iter().map(mean).collect();
    let between = if means.len() > 1 { variance(&means) } else { 0.0 };
    let total = covariance[0] + between;
    let mut correlation: Vec<f64> = covariance.iter().map(|at_lag| 1.0 - (within - at_lag) / total).collect();
    correlation[0] = 1.0;
    correlation
}

/// Correlations up to the first pair of lags (2k, 2k + 1) with a negative sum, and how many of them count
/// twice.
///
/// The number may be 0, where a truncation lag would be -1: when the first pair is already negative, or when
/// a chain is too short for a second pair.
fn initial_positive(correlation: &[f64]) -> (Vec<f64>, usize) {
    let mut result = correlation[..2].to_vec();
    let (mut even, mut odd) = (result[0], result[1]);
    let mut lag = 1;
    while lag + 3 < correlation.len() && even + odd > 0.0 {
        (even, odd) = (correlation[lag + 1], correlation[lag + 2]);
        if even + odd >= 0.0 {
            result.extend([even, odd]);
        }
        lag += 2;
    }
    let kept = lag - 1;
    // One more even lag if it is positive: less variance for antithetic chains.
    result.resize(result.len().max(kept + 1), 0.0);
    if even > 0.0 {
        result[kept] = even;
    }
    (result, kept)
}

/// Makes the sums of pairs decrease, as they do for the true correlations of a reversible chain.
fn initial_monotone(mut correlation: Vec<f64>, kept: usize) -> Vec<f64> {
    let mut lag = 1;
    while lag + 3 <= kept {
        let before = correlation[lag - 1] + correlation[lag];
        if correlation[lag + 1] + correlation[lag + 2] > before {
            correlation[lag + 1] = 0.5 * before;
            correlation[lag + 2] = 0.5 * before;
        }
        lag += 2;
    }
    correlation
}

/// Effective size for the centre of the distribution, which exists without moments.
pub fn ess_bulk(traces: &Traces) -> f64 {
    guarded(traces, |traces| ess(&rank_normalise(&split(traces))))
}

/// Effective size for the tails: the smaller of those for the quantiles 0.05 and 0.95.
pub fn ess_tail(traces: &Traces) -> f64 {
    let (lower, upper) = (ess_quantile(traces, 0.05), ess_quantile(traces, 0.95));
    if lower.is_nan() || upper.is_nan() { f64::NAN } else { lower.min(upper) }
}

/// Effective size for the quantile at `probability`: that of the share of draws below it.
pub fn ess_quantile(traces: &Traces, probability: f64) -> f64 {
    guarded(traces, |traces| {
        let bound = quantile(traces.values(), probability);
        if bound.is_nan() {
            return f64::NAN;
        }
        ess(&split(&traces.map(|value| f64::from(u8::from(value <= bound)))))
    })
}

/// Effective size for the mean.
pub fn ess_mean(traces: &Traces) -> f64 {
    guarded(traces, |traces| ess(&split(traces)))
}

/// Effective size for the standard deviation.
pub fn ess_sd(traces: &Traces) -> f64 {
    let centre = traces.mean();
    guarded(traces, |traces| ess(&split(&traces.map(|value| (value - centre).powi(2)))))
}

fn guarded(traces: &Traces, function: impl Fn(&Traces) -> f64) -> f64 {
    if traces.is_usable() { function(traces) } else { f64::NAN }
}
