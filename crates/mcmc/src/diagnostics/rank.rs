//! Ranks instead of values: diagnostics that exist without moments.

use super::Traces;
use super::interval::quantile;
use crate::special::normal_quantile;

/// Replaces each value by the normal quantile of its rank among all chains. \[VGSCB21\]
///
/// Equal values share the mean of their ranks r; the quantile is taken at (r - 3/8) / (S + 1/4).
pub fn rank_normalise(traces: &Traces) -> Traces {
    let values = traces.values();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|one, other| values[*one].total_cmp(&values[*other]));
    let mut scores = vec![0.0; values.len()];
    let mut below = 0;
    for tied in order.chunk_by(|one, other| values[*one] == values[*other]) {
        let rank = below as f64 + 0.5 * (tied.len() + 1) as f64;
        let score = normal_quantile((rank - 0.375) / (values.len() as f64 + 0.25));
        tied.iter().for_each(|place| scores[*place] = score);
        below += tied.len();
    }
    traces.with_values(scores)
}

/// Distances from the median of all chains: they show chains that differ in scale.
pub fn fold(traces: &Traces) -> Traces {
    let median = quantile(traces.values(), 0.5);
    traces.map(|value| (value - median).abs())
}
