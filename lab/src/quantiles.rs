//! Points of a quantile-quantile plot.

/// For a sample of n values the pairs (Q((i - 1/2)/n), i-th smallest value), Q the quantile function of the law.
pub fn quantile_quantile(sample: &[f64], quantile: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len() as f64;
    sorted
        .into_iter()
        .enumerate()
        .map(|(place, value)| (quantile((place as f64 + 0.5) / count), value))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_by_hand() {
        let found = quantile_quantile(&[0.9, 0.1], |probability| 10.0 * probability);
        assert_eq!(found, [(2.5, 0.1), (7.5, 0.9)]);
    }
}
