//! What drawing noise on the integers adds to delta.
//!
//! Noise is drawn from the *discrete* Gaussian on the integers, Q(k) = phi(k) / N with N = sum of phi(k),
//! where phi is the density of N(0, S^2) and S counts lattice steps. The exact arithmetic of `gaussian.rs` is
//! about the continuous Gaussian. Rounding the latter to the lattice, P(k) = integral of phi over the unit
//! interval centred at k, is post-processing (the exact statistic lies on the lattice), so P has the
//! continuous guarantee, and it remains to bound the total variation TV(P, Q) = 1/2 sum |P(k) - Q(k)|.
//!
//! **Claim.** TV(P, Q) <= phi_1(1) / (12 S^2) + 0.01573 / S^3 + 1.01 exp(-2 pi^2 S^2) for S >= 1, with phi_1
//! the standard normal density; for S >= 1024 this is at most 0.0202 / S^2.
//!
//! 1. *Midpoint rule with Peano's kernel.* Twice integrating by parts, P(k) - phi(k) = integral over |u| <
//!    1/2 of K(u) phi''(k + u) with K(u) = (1/2 - |u|)^2 / 2 >= 0, whose integral is 1/24. (To leading order
//!    this is Taylor's phi''(k) / 24, but it has no remainder to bound.)
//! 2. *Sum over k.* sum |P(k) - phi(k)| <= integral of K(u) G(u), G(u) = sum over k of |phi''(k + u)|. For a
//!    function g of bounded variation V(g), |g(p) - integral of g over [p - 1/2, p + 1/2]| <= V(g on that
//!    cell) / 2, hence G(u) <= integral of |phi''| + V(phi'') / 2 for every u (|phi''| varies no more than
//!    phi'').
//! 3. *The two constants.* The integral of |phi''| is the variation of phi', which runs 0, m, -m, 0 with m =
//!    phi_1(1) / S^2: 4 phi_1(1) / S^2. phi'' = (x^2/S^2 - 1) phi / S^2 runs 0, a, -c, a, 0 with a = 2
//!    phi_1(sqrt 3) / S^3 and c = phi_1(0) / S^3: V = (8 phi_1(sqrt 3) + 2 phi_1(0)) / S^3 < 1.51004 / S^3.
//! 4. *Normaliser.* By Poisson summation N = 1 + 2 sum over j >= 1 of exp(-2 pi^2 S^2 j^2) and
//!    sum |phi(k) - Q(k)| = N (1 - 1/N) = N - 1 <= 2.02 exp(-2 pi^2 S^2) for S >= 1.
//! 5. *Together.* TV <= 1/2 [ (4 phi_1(1) / S^2 + 0.75502 / S^3) / 24 + N - 1 ], the claim: 4 phi_1(1) / 48 =
//!    phi_1(1) / 12 = 0.0201643 and 0.75502 / 48 < 0.01573. For S >= 1024 the second term adds less than
//!    0.00002 / S^2 and the third less than 1e-8000000.

use super::error::{LossError, not_negative};

/// Below this scale the constant of [`discrete_gaussian_total_variation`] is not proven, and the lattice too
/// coarse.
const LEAST_SCALE: f64 = 1024.0;
const CONSTANT: f64 = 0.0202;

/// An upper bound on the total variation between the discrete Gaussian of scale `scale_steps`, in lattice
/// steps, and the continuous Gaussian of that scale rounded to the lattice: 0.0202 / scale_steps^2.
///
/// Proven at the head of this file; at most 0.2 percent above the truth. For several coordinates add the
/// bounds (total variation is subadditive over independent coordinates and over composition). Refuses scales
/// below 1024.
///
/// ```
/// let m = 10.0; // entries, all at scale 2^32 steps
/// let total = m * organza_release::loss::discrete_gaussian_total_variation(2f64.powi(32))?;
/// assert!(organza_release::loss::lattice_delta(1.0, total) < 1e-19);
/// # Ok::<(), organza_release::loss::LossError>(())
/// ```
pub fn discrete_gaussian_total_variation(scale_steps: f64) -> Result<f64, LossError> {
    not_negative("scale_steps", scale_steps)?;
    if scale_steps < LEAST_SCALE {
        let requirement = "at least 1024 lattice steps; use a finer lattice";
        return Err(LossError::Argument { argument: "scale_steps", value: scale_steps, requirement });
    }
    // Dividing twice cannot overflow. The relative error of 4e-16 is far inside the margin of the constant.
    Ok(CONSTANT / scale_steps / scale_steps)
}

/// What a total variation distance from an (epsilon, delta)-private mechanism adds to delta:
/// (1 + e^epsilon) `total_variation`, and at most 1.
///
/// Proof. Let P, Q be the outputs of the private mechanism on neighbouring tables and P', Q' those of the
/// mechanism that is run, TV(P, P') <= t and TV(Q, Q') <= t. For every event E, P'(E) <= P(E) + t <=
/// e^epsilon Q(E) + delta + t <= e^epsilon (Q'(E) + t) + delta + t. QED.
///
/// An argument that is not a number gives 1, the worst answer; a total variation of 0 gives 0 at every
/// epsilon.
pub fn lattice_delta(epsilon: f64, total_variation: f64) -> f64 {
    if total_variation == 0.0 {
        return 0.0;
    }
    // f64::min ignores NaN, which is what makes NaN the worst answer.
    (total_variation * (1.0 + libm::exp(epsilon))).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn density(k: f64, scale: f64) -> f64 {
        libm::exp(-0.5 * (k / scale) * (k / scale)) / (scale * (2.0 * PI).sqrt())
    }

    /// The total variation by summing both mass functions.
    fn exact_total_variation(scale: f64) -> f64 {
        let tail = |k: f64| 0.5 * libm::erfc(k / (scale * 2f64.sqrt()));
        let last = (scale * 12.0) as i64;
        let normaliser: f64 = (-last..=last).map(|k| density(k as f64, scale)).sum();
        let gap = |k: f64| (tail(k - 0.5) - tail(k + 0.5) - density(k, scale) / normaliser).abs();
        // Symmetric: the positive half twice, so that tails are small and their difference accurate.
        0.5 * (gap(0.0) + 2.0 * (1..=last).map(|k| gap(k as f64)).sum::<f64>())
    }

    #[test]
    fn the_claim_holds_and_is_tight_where_the_mass_can_be_summed() {
        for scale in [1.0, 2.0, 8.0, 32.0, 128.0, 1024.0] {
            let exact = exact_total_variation(scale);
            let leading = density(1.0, 1.0) / 12.0 / (scale * scale);
            let remainder = 0.01573 / scale.powi(3) + 1.01 * libm::exp(-2.0 * PI * PI * scale * scale);
            assert!(exact <= leading + remainder, "scale {scale}: {exact:e} exceeds the bound");
            assert!(exact >= leading - remainder, "scale {scale}: {exact:e} is far below the leading term");
        }
    }

    #[test]
    fn the_constant_covers_the_claim_from_1024_on() {
        let exact = exact_total_variation(1024.0);
        let bound = discrete_gaussian_total_variation(1024.0).unwrap();
        assert!(exact < bound && bound < 1.003 * exact, "{exact:e} against {bound:e}");
        let claim = density(1.0, 1.0) / 12.0 + 0.01573 / 1024.0;
        assert!(claim < CONSTANT, "{claim}");
    }

    #[test]
    fn the_constants_of_the_proof_are_rounded_up() {
        let variation = 8.0 * density(3f64.sqrt(), 1.0) + 2.0 * density(0.0, 1.0);
        assert!(variation < 1.51004 && variation > 1.5100, "{variation}");
        assert!(variation / 96.0 < 0.01573 && variation / 96.0 > 0.01572, "{variation}");
    }

    #[test]
    fn coarse_lattices_are_refused() {
        for scale in [1023.9, 0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = discrete_gaussian_total_variation(scale).unwrap_err();
            assert!(error.to_string().contains("scale_steps"), "{error}");
        }
    }

    #[test]
    fn the_correction_is_pessimistic_at_the_edges() {
        assert_eq!(lattice_delta(1e4, 0.0), 0.0);
        assert_eq!(lattice_delta(1e4, 1e-30), 1.0);
        assert_eq!(lattice_delta(f64::NAN, 1e-30), 1.0);
        assert_eq!(lattice_delta(1.0, f64::NAN), 1.0);
        assert_eq!(lattice_delta(0.0, 1e-30), 2e-30);
    }

    #[test]
    fn the_correction_covers_the_discrete_gaussian() {
        // delta of the discrete Gaussian itself by summation, on a coarse lattice where the correction
        // matters.
        for (scale, shift, epsilon) in [(8.0, 3, 0.5), (8.0, 8, 1.0), (32.0, 40, 2.0)] {
            let last = (scale * 12.0) as i64;
            let normaliser: f64 = (-last..=last).map(|k| density(k as f64, scale)).sum();
            let gain =
                |k: i64| density((k - shift) as f64, scale) - libm::exp(epsilon) * density(k as f64, scale);
            let exact = (-last..=2 * last).map(|k| gain(k).max(0.0)).sum::<f64>() / normaliser;
            let continuous = super::super::gaussian_delta(epsilon, shift as f64 / scale).unwrap();
            let bound = continuous + lattice_delta(epsilon, exact_total_variation(scale));
            assert!(exact <= bound, "scale {scale}: {exact:e} exceeds {bound:e}");
        }
    }
}
