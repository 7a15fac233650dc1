//! Whether chains agree.
//!
//! **What it estimates.** The factor by which the spread of all chains together exceeds that within chains; 1
//! when they agree. **Citation.** \[VGSCB21\].

use super::traces::{mean, variance};
use super::{Traces, fold, rank_normalise, split};

/// The rank-normalised split R-hat: the larger of that of the draws and that of the folded draws.
///
/// NaN if all values are equal, infinite if each half of a chain is constant but they differ.
pub fn r_hat(traces: &Traces) -> f64 {
    if !traces.is_usable() {
        return f64::NAN;
    }
    let halves = split(traces);
    let bulk = scale_reduction(&rank_normalise(&halves));
    let tail = scale_reduction(&rank_normalise(&fold(&halves)));
    // If folding makes all values equal (draws at +a and -a), only the bulk says anything.
    bulk.max(tail)
}

/// The potential scale reduction of values as they are: sqrt((B / W + N - 1) / N), B = N times the variance
/// of the means of chains, W = the mean of their variances. NaN for fewer than two chains or two draws.
pub fn scale_reduction(traces: &Traces) -> f64 {
    let draws = traces.draws() as f64;
    let means: Vec<f64> = traces.iter().map(mean).collect();
    let variances: Vec<f64> = traces.iter().map(variance).collect();
    let (between, within) = (draws * variance(&means), mean(&variances));
    ((between / within + draws - 1.0) / draws).sqrt()
}
