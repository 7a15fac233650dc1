//! Properties of the loss arithmetic that hold at every argument: order, inverses, safe sides.
#![allow(clippy::unwrap_used)]

use organza_release::loss::{
    Composition, Mechanism, RELATIVE_ACCURACY, gaussian_delta, gaussian_epsilon, gaussian_mu, gaussian_rho,
    gaussian_scale, laplace_epsilon, laplace_scale, steps_within, zcdp_delta, zcdp_delta_classic,
    zcdp_epsilon, zcdp_epsilon_classic, zcdp_rho, zcdp_rho_classic,
};
use proptest::prelude::*;

/// The same cases on every run, so nothing needs to be remembered between runs.
fn seeded() -> ProptestConfig {
    let rng_seed = proptest::test_runner::RngSeed::Fixed(1);
    ProptestConfig { cases: 400, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

/// Spread evenly over the decades.
fn decades(low: f64, high: f64) -> impl Strategy<Value = f64> {
    (low.log10()..high.log10()).prop_map(|exponent| 10f64.powf(exponent))
}

fn close(found: f64, expected: f64, tolerance: f64) -> bool {
    (found / expected - 1.0).abs() <= tolerance
}

proptest! {
    #![proptest_config(seeded())]

    #[test]
    fn delta_falls_with_epsilon_and_grows_with_mu(
        epsilon in decades(1e-6, 300.0), mu in decades(1e-6, 100.0), factor in 1.001..3.0f64,
    ) {
        let delta = gaussian_delta(epsilon, mu).unwrap();
        prop_assert!((0.0..=1.0).contains(&delta));
        prop_assert!(gaussian_delta(epsilon * factor, mu).unwrap() <= delta * (1.0 + RELATIVE_ACCURACY));
        prop_assert!(gaussian_delta(epsilon, mu * factor).unwrap() >= delta * (1.0 - RELATIVE_ACCURACY));
    }

    #[test]
    fn calibrated_noise_keeps_the_promise_and_wastes_nothing(
        epsilon in decades(1e-6, 300.0), delta in decades(1e-30, 0.999),
    ) {
        let mu = gaussian_mu(epsilon, delta).unwrap();
        prop_assert!(gaussian_delta(epsilon, mu).unwrap() <= delta);
        prop_assert!(gaussian_delta(epsilon, mu * (1.0 + 1e-11)).unwrap() > delta);
        let scale = gaussian_scale(epsilon, delta, 3.7).unwrap();
        prop_assert!(gaussian_delta(epsilon, 3.7 / scale).unwrap() <= delta);
        prop_assert!(close(scale, 3.7 / mu, 4.0 * f64::EPSILON));
    }

    #[test]
    fn epsilon_keeps_the_promise_and_wastes_nothing(
        delta in decades(1e-30, 0.5), mu in decades(1e-6, 1e4),
    ) {
        let epsilon = gaussian_epsilon(delta, mu).unwrap();
        prop_assert!(gaussian_delta(epsilon, mu).unwrap() <= delta);
        if epsilon > 0.0 {
            // Near 0 epsilon is known to an absolute 1e-15 only.
            let smaller = epsilon * (1.0 - 1e-11) - 1e-15;
            prop_assert!(smaller < 0.0 || gaussian_delta(smaller, mu).unwrap() > delta);
        }
    }

    #[test]
    fn mu_and_epsilon_are_inverse(epsilon in decades(1e-3, 300.0), delta in decades(1e-15, 0.5)) {
        let mu = gaussian_mu(epsilon, delta).unwrap();
        prop_assert!(close(gaussian_epsilon(delta, mu).unwrap(), epsilon, 4.0 * RELATIVE_ACCURACY));
    }

    #[test]
    fn laplace_is_inverse_and_safe(epsilon in decades(1e-9, 1e9), sensitivity in decades(1e-9, 1e9)) {
        let scale = laplace_scale(epsilon, sensitivity).unwrap();
        let back = laplace_epsilon(scale, sensitivity).unwrap();
        prop_assert!(back <= epsilon && close(back, epsilon, 4.0 * f64::EPSILON));
    }

    #[test]
    fn the_exact_arithmetic_beats_the_optimal_order_and_that_beats_the_classic(
        mu in decades(1e-4, 20.0), delta in decades(1e-15, 0.4),
    ) {
        let rho = gaussian_rho(mu).unwrap();
        let (exact, optimal) = (gaussian_epsilon(delta, mu).unwrap(), zcdp_epsilon(rho, delta).unwrap());
        prop_assert!(exact <= optimal * (1.0 + RELATIVE_ACCURACY) + 1e-15);
        prop_assert!(optimal <= zcdp_epsilon_classic(rho, delta).unwrap());
        let delta_here = zcdp_delta(rho, optimal).unwrap();
        prop_assert!(delta_here <= zcdp_delta_classic(rho, optimal).unwrap() * (1.0 + RELATIVE_ACCURACY));
    }

    #[test]
    fn concentrated_conversions_are_inverse(epsilon in decades(1e-3, 300.0), delta in decades(1e-15, 0.5)) {
        let rho = zcdp_rho(epsilon, delta).unwrap();
        prop_assert!(close(zcdp_epsilon(rho, delta).unwrap(), epsilon, 4.0 * RELATIVE_ACCURACY));
        prop_assert!(close(zcdp_delta(rho, epsilon).unwrap(), delta, RELATIVE_ACCURACY));
        let classic = zcdp_rho_classic(epsilon, delta).unwrap();
        prop_assert!(classic <= rho);
        prop_assert!(close(zcdp_epsilon_classic(classic, delta).unwrap(), epsilon, RELATIVE_ACCURACY));
        prop_assert!(close(zcdp_delta_classic(classic, epsilon).unwrap(), delta, RELATIVE_ACCURACY));
    }

    #[test]
    fn composed_epsilon_and_delta_are_inverse(
        mus in prop::collection::vec(decades(1e-3, 2.0), 1..6), delta in decades(1e-12, 0.1),
    ) {
        let total = Composition::of(mus.iter().map(|&mu| Mechanism::Gaussian { mu })).unwrap();
        let epsilon = total.epsilon(delta).unwrap();
        prop_assert!(total.delta(epsilon).unwrap() <= delta);
        if epsilon > 1e-3 {
            prop_assert!(total.delta(epsilon * (1.0 - 1e-11)).unwrap() > delta);
        }
    }

    #[test]
    fn a_budget_for_k_steps_buys_k_steps(
        steps in 1..2_000_000u64, mu in decades(1e-4, 0.05), delta in decades(1e-12, 0.01),
    ) {
        let one = Composition::of([Mechanism::Gaussian { mu }]).unwrap();
        let epsilon = one.repeat(steps).epsilon(delta).unwrap();
        prop_assume!(epsilon > 1e-3);
        prop_assert_eq!(steps_within(epsilon, delta, mu).unwrap(), steps);
        // Calibrating one step from the budget arrives at the same boundary by another way.
        let share = gaussian_mu(epsilon, delta).unwrap() / (steps as f64).sqrt();
        prop_assert_eq!(steps_within(epsilon, delta, share).unwrap(), steps);
    }

    #[test]
    fn pushing_one_by_one_is_repeating(
        count in 1..3000u64, mu in decades(1e-3, 1.0), epsilon in 1e-3..0.1f64,
    ) {
        for (mechanism, delta) in [(Mechanism::Gaussian { mu }, 1e-6), (Mechanism::Pure { epsilon }, 0.0)] {
            let one = Composition::of([mechanism]).unwrap();
            let pushed = Composition::of(std::iter::repeat_n(mechanism, count as usize)).unwrap();
            let (pushed, repeated) = (pushed.epsilon(delta).unwrap(), one.repeat(count).epsilon(delta).unwrap());
            prop_assert!(close(pushed, repeated, 8.0 * f64::EPSILON));
        }
    }
}
