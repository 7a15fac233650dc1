//! Discrete Gaussian noise on several counts, each of which moves by one: the loss of contingency tables.
//!
//! m counts move by +1 or -1 each, and get independent noise Q(k) proportional to exp(-k^2 / (2 s^2)) on the
//! integers. The noise is symmetric, so all may be taken to move by +1. The loss at noise k_1, .., k_m is
//! L = (m + 2 K) / (2 s^2) with K the sum of the k_i (sign included), hence
//!
//! delta(epsilon) = E[max(0, 1 - e^(epsilon - L))], a function of the law of K alone.
//!
//! For m = 1 this is \[CKS20\] Theorem 7. Of three proven bounds the smallest is taken:
//!
//! 1. **Sum of the mass** for s sqrt(m) up to 2^15. *Claim:* the law of K is N_Z(0, m s^2), the discrete Gaussian, up to
//!    factors e^(-t) and e^t with t = sum over j < m of 2 artanh(e_j), e_j = 2 sum over i >= 1 of
//!    exp(-2 pi^2 s^2 i^2 j / (j + 1)). *Proof:* add one coordinate to a sum whose law is N_Z(0, j s^2). Completing the square,
//!    the convolution at x is exp(-x^2 / (2 (j + 1) s^2)) times the sum over k of exp(-(k - c)^2 / (2 v)), with v =
//!    s^2 j / (j + 1) and some c that depends on x. By Poisson summation the latter is sqrt(2 pi v) (1 + 2 sum over i of
//!    exp(-2 pi^2 v i^2) cos(2 pi i c)), between 1 - e_j and 1 + e_j times the same constant for every x. So the
//!    normalised law is within the factor (1 + e_j) / (1 - e_j) of N_Z(0, (j + 1) s^2); a law that was within a factor
//!    before stays so when it is convolved, and factors multiply. QED. The expectation of a function that is not negative
//!    changes by the factor e^t at most. For s >= 2 this is 1 + m 2e-17.
//! 2. **The continuous Gaussian** beyond, where the sum is long: N_Z(0, S^2), S = s sqrt(m), moved by m is within the total
//!    variation of `lattice.rs` of rounded continuous noise with mu = m / S, and the factor e^t is as before.
//! 3. **Concentrated privacy** ([`zcdp_delta`]) for any s, where t is large.
//!
//! Fewer counts that move lose less: what m counts show, shows m' < m of them.

use super::error::{LossError, not_negative, positive};
use super::gaussian::delta_at;
use super::lattice::{discrete_gaussian_total_variation, lattice_delta};
use super::zcdp::{gaussian_rho, zcdp_delta};

/// Up to this scale of the sum its mass is added term by term.
const LONGEST_SUM_SCALE: f64 = 32_768.0;

/// An upper bound of the delta at `epsilon` of discrete Gaussian noise of this scale on `coordinates` counts that move
/// by one each; for scales from 2 up to 32,768 over sqrt(coordinates) it is exact up to rounding.
///
/// ```
/// let delta = organza_release::loss::discrete_gaussian_delta(1.0, 5.0, 2)?;
/// let continuous = organza_release::loss::gaussian_delta(1.0, 2f64.sqrt() / 5.0)?;
/// assert!((delta / continuous - 1.0).abs() < 0.2);
/// # Ok::<(), organza_release::loss::LossError>(())
/// ```
pub fn discrete_gaussian_delta(epsilon: f64, scale: f64, coordinates: u64) -> Result<f64, LossError> {
    not_negative("epsilon", epsilon)?;
    positive("scale", scale)?;
    let count = positive("coordinates", coordinates as f64)?;
    let concentrated = zcdp_delta(gaussian_rho(count.sqrt() / scale)?, epsilon)?;
    let whole = scale * count.sqrt();
    let of_the_sum = if whole <= LONGEST_SUM_SCALE {
        summed_delta(epsilon, scale, count)
    } else {
        let correction = lattice_delta(epsilon, discrete_gaussian_total_variation(whole)?);
        delta_at(epsilon, count / whole) + correction
    };
    // f64::min ignores NaN: an infinite factor times zero is no bound.
    Ok((of_the_sum * libm::exp(log_factor(scale, coordinates))).min(concentrated).min(1.0))
}

/// The t of the first bound: how far the law of a sum may be from a discrete Gaussian.
fn log_factor(scale: f64, coordinates: u64) -> f64 {
    let steps = coordinates.saturating_sub(1);
    let rate = 2.0 * std::f64::consts::PI * std::f64::consts::PI * scale * scale;
    let of_step = |j: u64| {
        let ratio = libm::exp(-rate * (j as f64 / (j as f64 + 1.0)));
        // The sum of ratio^(i^2) is below the geometric series.
        let error = 2.0 * ratio / (1.0 - ratio);
        if error < 1.0 { libm::log((1.0 + error) / (1.0 - error)) } else { f64::INFINITY }
    };
    // Later steps cost less: after a hundred all are bounded by one of them.
    let first: f64 = (1..=steps.min(100)).map(of_step).sum();
    if steps > 100 { first + (steps - 100) as f64 * of_step(101) } else { first }
}

/// E[max(0, 1 - e^(epsilon - L))] under N_Z(0, m s^2), an upper bound: what lies beyond the last term is added.
fn summed_delta(epsilon: f64, scale: f64, count: f64) -> f64 {
    let variance = count * scale * scale;
    let weight = |k: f64| libm::exp(-0.5 * k * (k / variance));
    let gain = |k: f64| -libm::expm1(epsilon - (0.5 * count + k) / (scale * scale));
    // The loss exceeds epsilon from here on.
    let mut k = (epsilon * scale * scale - 0.5 * count).floor() + 1.0;
    if k > 40.0 * variance.sqrt() {
        return 0.0; // the weights underflow
    }
    k = k.max((-40.0 * variance.sqrt()).floor());
    let mut total = 0.0;
    loop {
        let term = weight(k);
        total += term * gain(k).max(0.0);
        k += 1.0;
        // Beyond k > 0 the weights fall faster than a geometric series, and gains are below one.
        if k > 0.0 {
            let rest = weight(k) / -libm::expm1(-(k + 0.5) / variance);
            if rest <= 1e-17 * total || rest < 1e-300 {
                return (total + rest) / discrete_gaussian_normaliser(variance.sqrt());
            }
        }
    }
}

/// The sum of exp(-k^2 / (2 s^2)) over all integers k, by whichever of the two theta series converges fast.
pub(crate) fn discrete_gaussian_normaliser(scale: f64) -> f64 {
    let variance = scale * scale;
    if scale < 0.5 {
        return 1.0 + 2.0 * quick_sum(|k| libm::exp(-0.5 * k * (k / variance)));
    }
    let rate = 2.0 * std::f64::consts::PI * std::f64::consts::PI * variance;
    scale * (2.0 * std::f64::consts::PI).sqrt() * (1.0 + 2.0 * quick_sum(|j| libm::exp(-rate * j * j)))
}

/// The sum of the terms at 1, 2, .. of a series that falls faster than a geometric one.
pub(crate) fn quick_sum(term: impl Fn(f64) -> f64) -> f64 {
    let (mut sum, mut index) = (0.0, 1.0);
    loop {
        let next = term(index);
        sum += next;
        if next <= 1e-18 * sum {
            return sum;
        }
        index += 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The law of one coordinate on -reach..=reach.
    fn law(scale: f64, reach: i64) -> Vec<f64> {
        let mass: Vec<f64> = (-reach..=reach).map(|k| libm::exp(-0.5 * (k as f64 / scale).powi(2))).collect();
        let total: f64 = mass.iter().sum();
        mass.iter().map(|mass| mass / total).collect()
    }

    fn convolve(left: &[f64], right: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; left.len() + right.len() - 1];
        for (i, a) in left.iter().enumerate() {
            for (j, b) in right.iter().enumerate() {
                out[i + j] += a * b;
            }
        }
        out
    }

    /// The definition: the sum over all outputs of max(0, P - e^epsilon P'), by convolution of the coordinates.
    fn by_definition(epsilon: f64, scale: f64, coordinates: usize) -> f64 {
        let one = law(scale, (14.0 * scale) as i64 + 6);
        let sum = (1..coordinates).fold(one.clone(), |sum, _| convolve(&sum, &one));
        let centre = (sum.len() / 2) as f64;
        let gain = |index: usize| {
            let loss = (0.5 * coordinates as f64 + index as f64 - centre) / (scale * scale);
            -libm::expm1(epsilon - loss)
        };
        sum.iter().enumerate().map(|(index, mass)| mass * gain(index).max(0.0)).sum()
    }

    /// Catches a lost factor, a wrong threshold and a wrong variance of the sum.
    #[test]
    fn agrees_with_the_definition() {
        for (scale, coordinates) in [(2.0, 1), (2.0, 4), (3.5, 2), (7.3, 5), (12.0, 8), (2.0, 30)] {
            for epsilon in [0.0, 0.1, 0.7, 2.0] {
                let (exact, found) = (
                    by_definition(epsilon, scale, coordinates),
                    discrete_gaussian_delta(epsilon, scale, coordinates as u64).unwrap(),
                );
                let close = (found / exact - 1.0).abs() < 1e-11 || exact < 1e-15;
                assert!(close, "scale {scale}, {coordinates}, epsilon {epsilon}: {found:e} {exact:e}");
            }
        }
    }

    /// Where the sum is not quite Gaussian the bound is above the truth, and zCDP takes over in the end.
    #[test]
    fn small_scales_are_bounded() {
        for scale in [0.2, 0.35, 0.5, 0.7, 1.0, 1.4] {
            for coordinates in [1usize, 2, 3, 10] {
                for epsilon in [0.5, 2.0, 8.0] {
                    let exact = by_definition(epsilon, scale, coordinates);
                    let found = discrete_gaussian_delta(epsilon, scale, coordinates as u64).unwrap();
                    assert!(
                        found >= exact * (1.0 - 1e-12),
                        "{scale} {coordinates} {epsilon}: {found} {exact}"
                    );
                    assert!(
                        scale < 1.0 || coordinates > 3 || found < 1.01 * exact + 1e-15,
                        "{found} {exact}"
                    );
                }
            }
        }
    }

    #[test]
    fn both_bounds_meet_at_the_longest_sum() {
        let below = discrete_gaussian_delta(1e-4, 32_760.0, 1).unwrap();
        let above = discrete_gaussian_delta(1e-4, 32_776.0, 1).unwrap();
        assert!((below / above - 1.0).abs() < 2e-2, "{below:e} {above:e}");
        assert_eq!(discrete_gaussian_delta(50.0, 30_000.0, 1).unwrap(), 0.0);
        assert!(discrete_gaussian_delta(0.0, 1e-3, 1_000_000).unwrap() > 0.999);
    }

    #[test]
    fn both_theta_series_agree() {
        for scale in [0.45, 0.5, 0.55] {
            let direct = 1.0 + 2.0 * quick_sum(|k| libm::exp(-0.5 * (k / scale) * (k / scale)));
            assert!((discrete_gaussian_normaliser(scale) / direct - 1.0).abs() < 1e-15, "{scale}");
        }
    }
}
