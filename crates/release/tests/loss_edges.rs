//! The loss arithmetic at the edges: refused arguments, extreme values, serialised forms.
#![allow(clippy::unwrap_used)]

use organza_release::loss::{
    Composition, LossError, Mechanism, composed_rho, gaussian_delta, gaussian_epsilon, gaussian_mu,
    gaussian_rho, gaussian_scale, laplace_epsilon, laplace_scale, parallel, pure_rho, steps_within,
    zcdp_delta, zcdp_delta_classic, zcdp_epsilon, zcdp_epsilon_classic, zcdp_rho, zcdp_rho_classic,
};

const TINY: f64 = f64::MIN_POSITIVE;
const HUGE: f64 = f64::MAX;

#[track_caller]
fn assert_refuses(result: Result<f64, LossError>, name: &str, bad: f64) {
    let error = result.unwrap_err();
    let LossError::Argument { argument, value, .. } = error else { panic!("{error}") };
    assert_eq!(argument, name);
    assert_eq!(value.to_bits(), bad.to_bits());
    assert!(error.to_string().starts_with(&format!("{name} = {bad}: it must be ")), "{error}");
}

#[test]
fn every_argument_is_checked_and_named() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1e-9] {
        assert_refuses(gaussian_delta(bad, 1.0), "epsilon", bad);
        assert_refuses(gaussian_mu(bad, 0.1), "epsilon", bad);
        assert_refuses(pure_rho(bad), "epsilon", bad);
        assert_refuses(zcdp_delta(1.0, bad), "epsilon", bad);
        assert_refuses(zcdp_delta_classic(1.0, bad), "epsilon", bad);
        assert_refuses(zcdp_rho(bad, 0.1), "epsilon", bad);
        assert_refuses(composed_rho([1.0, bad]), "rho", bad);
        assert_refuses(Composition::default().delta(bad), "epsilon", bad);
    }
    for bad in [f64::NAN, f64::INFINITY, -1.0, -0.0, 0.0] {
        assert_refuses(gaussian_delta(1.0, bad), "mu", bad);
        assert_refuses(gaussian_epsilon(0.1, bad), "mu", bad);
        assert_refuses(gaussian_rho(bad), "mu", bad);
        assert_refuses(gaussian_scale(1.0, 0.1, bad), "sensitivity", bad);
        assert_refuses(laplace_scale(bad, 1.0), "epsilon", bad);
        assert_refuses(laplace_epsilon(bad, 1.0), "scale", bad);
        assert_refuses(zcdp_epsilon(bad, 0.1), "rho", bad);
        assert_refuses(zcdp_epsilon_classic(bad, 0.1), "rho", bad);
        assert_refuses(zcdp_rho_classic(bad, 0.1), "epsilon", bad);
        assert_refuses(steps_within(1.0, 0.1, bad).map(|steps| steps as f64), "mu_per_step", bad);
    }
    for bad in [f64::NAN, 0.0, 1.0, 1.5, -0.1] {
        assert_refuses(gaussian_epsilon(bad, 1.0), "delta", bad);
        assert_refuses(gaussian_mu(1.0, bad), "delta", bad);
        assert_refuses(zcdp_epsilon(1.0, bad), "delta", bad);
        assert_refuses(zcdp_rho(1.0, bad), "delta", bad);
    }
}

#[test]
fn extremes_are_limits_and_never_nan() {
    assert_eq!(gaussian_delta(1.0, 1e-10).unwrap(), 0.0);
    assert_eq!(gaussian_delta(HUGE, TINY).unwrap(), 0.0);
    assert_eq!(gaussian_delta(0.0, HUGE).unwrap(), 1.0);
    assert_eq!(gaussian_delta(50.0, 1e6).unwrap(), 1.0);
    let total_variation = gaussian_delta(0.0, 1e-200).unwrap(); // mu / sqrt(2 pi)
    assert!((total_variation / (1e-200 / (2.0 * std::f64::consts::PI).sqrt()) - 1.0).abs() < 1e-15);
    assert!(gaussian_scale(1e20, 0.5, TINY).unwrap() > 0.0, "no noise is not an answer");
    assert_eq!(gaussian_epsilon(0.5, 0.1).unwrap(), 0.0);
    assert_eq!(gaussian_epsilon(1e-6, 1e-7).unwrap(), 0.0);
    assert!(matches!(gaussian_epsilon(1e-6, 1e200), Err(LossError::Overflow { quantity: "epsilon" })));
    assert!(matches!(laplace_epsilon(TINY, HUGE), Err(LossError::Overflow { quantity: "epsilon" })));
    assert!(matches!(laplace_scale(TINY, HUGE), Err(LossError::Overflow { quantity: "scale" })));
}

#[test]
fn a_grid_of_extremes_has_finite_answers_or_says_overflow() {
    let values = [TINY, 1e-160, 1e-20, 1e-3, 1.0, 700.0, 1e4, 1e20, 1e160, HUGE];
    let deltas = [TINY, 1e-160, 1e-15, 0.5, 1.0 - f64::EPSILON];
    let fine = |name: &str, result: Result<f64, LossError>| match result {
        Ok(value) => assert!(value.is_finite() && value >= 0.0, "{name}: {value}"),
        Err(error) => assert!(matches!(error, LossError::Overflow { .. }), "{name}: {error}"),
    };
    for first in values {
        for second in values {
            fine("gaussian_delta", gaussian_delta(first, second));
            fine("zcdp_delta", zcdp_delta(first, second));
            fine("zcdp_delta_classic", zcdp_delta_classic(first, second));
        }
        for delta in deltas {
            fine("gaussian_epsilon", gaussian_epsilon(delta, first));
            fine("gaussian_mu", gaussian_mu(first, delta));
            fine("zcdp_epsilon", zcdp_epsilon(first, delta));
            fine("zcdp_rho", zcdp_rho(first, delta));
            fine("steps_within", steps_within(1.0, delta, first).map(|steps| steps as f64));
        }
    }
    for delta in deltas {
        fine("gaussian_mu at 0", gaussian_mu(0.0, delta));
        fine("zcdp_rho at 0", zcdp_rho(0.0, delta));
    }
}

#[test]
fn the_total_variation_is_inverted_at_epsilon_zero() {
    // delta(0) = erf(mu / sqrt(8)).
    for delta in [1e-12, 1e-3, 0.3, 0.9] {
        let mu = gaussian_mu(0.0, delta).unwrap();
        assert!((libm::erf(mu / 8f64.sqrt()) / delta - 1.0).abs() < 1e-14, "{delta}");
    }
}

#[test]
fn the_analytic_calibration_of_the_literature() {
    // The reference code of [AYB23] returns 1.4866 here, which is wrong.
    let scale = gaussian_scale(1.0, 1.0 / 7655.0, 1.0).unwrap();
    assert!((scale - 3.1185).abs() < 5e-5, "{scale}");
}

#[test]
fn compositions_say_what_cannot_be_had() {
    assert_eq!(Composition::default().epsilon(0.0).unwrap(), 0.0);
    assert_eq!(Composition::default().delta(0.0).unwrap(), 0.0);
    let pure = Composition::of([Mechanism::Pure { epsilon: 0.25 }; 3]).unwrap();
    assert_eq!(pure.epsilon(0.0).unwrap(), 0.75);
    assert_eq!(pure.delta(0.75).unwrap(), 0.0);
    assert!(pure.delta(0.74).unwrap() > 0.0);
    let gaussian = Composition::of([Mechanism::Gaussian { mu: 1.0 }]).unwrap();
    assert!(matches!(gaussian.epsilon(0.0), Err(LossError::DeltaTooSmall { least: 0.0, .. })));
    let approximate = Composition::of([Mechanism::Approximate { epsilon: 1.0, delta: 1e-6 }; 2]).unwrap();
    let error = approximate.epsilon(1e-6).unwrap_err();
    assert!(error.to_string().contains("need a delta above 0.000002"), "{error}");
    assert!(approximate.epsilon(2e-6).unwrap() <= 2.0);
    for mu in [1e-151, 1e151, -1.0, f64::NAN] {
        assert!(Composition::of([Mechanism::Gaussian { mu }]).is_err());
    }
}

#[test]
fn parallel_parties_cost_as_much_as_the_worst() {
    assert_eq!(parallel(&[(1.0, 1e-6), (0.5, 1e-5), (0.1, 0.0)]).unwrap(), (1.0, 1e-5));
    assert_eq!(parallel(&[]).unwrap(), (0.0, 0.0));
    assert!(parallel(&[(1.0, 1.0)]).is_err());
}

#[test]
fn mechanisms_are_tagged_by_kind() {
    let cases = [
        (Mechanism::Gaussian { mu: 0.5 }, r#"{"kind":"gaussian","mu":0.5}"#),
        (Mechanism::Pure { epsilon: 0.1 }, r#"{"kind":"pure","epsilon":0.1}"#),
        (
            Mechanism::Approximate { epsilon: 1.0, delta: 1e-6 },
            r#"{"kind":"approximate","epsilon":1.0,"delta":1e-6}"#,
        ),
        (
            Mechanism::DiscreteGaussian { scale: 5.5, moved: 2 },
            r#"{"kind":"discrete-gaussian","scale":5.5,"moved":2}"#,
        ),
    ];
    for (mechanism, json) in cases {
        assert_eq!(serde_json::to_string(&mechanism).unwrap(), json);
        assert_eq!(serde_json::from_str::<Mechanism>(json).unwrap(), mechanism);
    }
    assert!(serde_json::from_str::<Mechanism>(r#"{"kind":"gaussian","mu":0.5,"sigma":2}"#).is_err());
    assert!(serde_json::from_str::<Mechanism>(r#"{"kind":"Gaussian","mu":0.5}"#).is_err());
}
