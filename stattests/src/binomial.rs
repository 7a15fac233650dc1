//! Exact confidence bounds of a probability (Clopper and Pearson 1934).

use statrs::function::beta::beta_reg;

/// Smallest probability that is compatible with at least `successes` of `trials` at error probability `alpha`.
pub fn lower_bound(successes: u64, trials: u64, alpha: f64) -> f64 {
    if successes == 0 {
        return 0.0;
    }
    // P(at least k | p) = I_p(k, n - k + 1), increasing in p.
    let tail = |p: f64| beta_reg(successes as f64, (trials - successes) as f64 + 1.0, p);
    bisect(|p| tail(p) < alpha)
}

/// Largest probability that is compatible with at most `successes` of `trials` at error probability `alpha`.
pub fn upper_bound(successes: u64, trials: u64, alpha: f64) -> f64 {
    1.0 - lower_bound(trials - successes, trials, alpha)
}

/// The point of [0, 1] up to which a condition holds.
fn bisect(holds_below: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if holds_below(middle) { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_agree_with_closed_forms() {
        // All or none of n: the bounds are alpha^(1/n) and its complement.
        let all = lower_bound(50, 50, 0.05);
        assert!((all - 0.05f64.powf(1.0 / 50.0)).abs() < 1e-9, "{all}");
        assert!((upper_bound(0, 50, 0.05) - (1.0 - 0.05f64.powf(1.0 / 50.0))).abs() < 1e-9);
        assert_eq!(lower_bound(0, 50, 0.05), 0.0);
    }
}
