//! Composition of mechanisms of all kinds: against closed forms, enumeration and convolution by brute force.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use organza_release::Neighbours;
use organza_release::loss::pld::Bracket;
use organza_release::loss::{Composition, LossError, Mechanism, zcdp_epsilon};

fn repeated(mechanism: Mechanism, times: u64) -> Composition {
    Composition::of([mechanism]).unwrap().repeat(times)
}

/// A law of losses: mass at each.
type Law = Vec<(f64, f64)>;

fn laplace_law(epsilon: f64, cells: u32) -> Law {
    let width = 2.0 * epsilon / f64::from(cells);
    let cell = |index: u32| {
        let loss = -epsilon + (f64::from(index) + 0.5) * width;
        (loss, 0.25 * (0.5 * (loss - epsilon)).exp() * width)
    };
    let ends = [(epsilon, 0.5), (-epsilon, 0.5 * (-epsilon).exp())];
    (0..cells).map(cell).chain(ends).collect()
}

fn normal_law(mu: f64, cells: u32) -> Law {
    let width = 20.0 / f64::from(cells);
    let cell = |index: u32| {
        let z = -10.0 + (f64::from(index) + 0.5) * width;
        let density = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
        (mu * z + 0.5 * mu * mu, density * width)
    };
    (0..cells).map(cell).collect()
}

fn counts_law(scale: f64) -> Law {
    let last = (12.0 * scale) as i64 + 3;
    let weight = |k: i64| (-0.5 * (k as f64 / scale).powi(2)).exp();
    let whole: f64 = (-last..=last).map(weight).sum();
    (-last..=last).map(|k| ((k as f64 + 0.5) / (scale * scale), weight(k) / whole)).collect()
}

/// Every pair of losses: no grid, no transform.
fn convolved(one: &Law, other: &Law) -> Law {
    one.iter().flat_map(|(a, p)| other.iter().map(move |(b, q)| (a + b, p * q))).collect()
}

fn delta_of(law: &Law, epsilon: f64) -> f64 {
    law.iter().map(|(loss, mass)| mass * (-(epsilon - loss).exp_m1()).max(0.0)).sum()
}

fn assert_holds(found: Bracket, truth: f64, accuracy: f64, what: &str) {
    let Bracket { lower, upper } = found;
    let room = 1e-15 + accuracy * truth;
    assert!(lower <= truth + room && truth <= upper + room, "{what}: {truth:e} is not in {found:?}");
    assert!(upper - lower <= 1e-3 * upper + 1e-15, "{what}: {found:?} is wide");
}

/// Catches the answer delta = 1 below the sum of epsilons.
#[test]
fn one_laplace_mechanism_has_its_closed_form() {
    for most in [0.01, 0.5, 1.0, 4.0_f64] {
        let one = repeated(Mechanism::Laplace { epsilon: most }, 1);
        for part in [0.0, 0.3, 0.9, 1.0, 1.5] {
            let epsilon = part * most;
            let truth = (1.0 - (0.5 * (epsilon - most)).exp()).max(0.0);
            assert!((one.delta(epsilon).unwrap() - truth).abs() < 1e-15, "{most} {epsilon}");
        }
        for delta in [1e-9, 1e-3, 0.2_f64] {
            let truth = (most + 2.0 * (1.0 - delta).ln()).max(0.0);
            assert!((one.epsilon(delta).unwrap() - truth).abs() < 1e-14 * most.max(1.0), "{most} {delta}");
        }
    }
}

#[test]
fn two_laplace_mechanisms_agree_with_a_convolution() {
    for (one, other) in [(0.5, 0.5), (2.0, 0.3)] {
        let law = convolved(&laplace_law(one, 2000), &laplace_law(other, 2000));
        let total = Composition::of([one, other].map(|epsilon| Mechanism::Laplace { epsilon })).unwrap();
        for part in [0.0, 0.3, 0.9] {
            let epsilon = part * (one + other);
            let what = format!("{one} and {other} at {epsilon}");
            assert_holds(total.delta_bounds(epsilon).unwrap(), delta_of(&law, epsilon), 1e-4, &what);
        }
    }
}

/// \[KOV15\] Theorem 3.3: k equal mechanisms, of which i say the less likely thing.
fn response_delta(most: f64, least: f64, times: u64, epsilon: f64) -> f64 {
    let (k, log_whole) = (times as f64, times as f64 * most.exp().ln_1p());
    let (mut log_choose, mut sum) = (0.0, 0.0);
    for i in 0..=times {
        let lies = i as f64;
        let loss = (k - 2.0 * lies) * most;
        sum += (log_choose + (k - lies) * most - log_whole).exp() * (-(epsilon - loss).exp_m1()).max(0.0);
        log_choose += ((k - lies) / (lies + 1.0)).ln();
    }
    1.0 - (1.0 - least).powf(k) * (1.0 - sum)
}

/// Catches a wrong weight of the two answers, and a delta that is lost or counted twice.
#[test]
fn equal_mechanisms_compose_optimally() {
    for (most, least) in [(0.1, 0.0), (0.1, 1e-5), (1.0, 0.0), (1.0, 1e-3), (3.0, 0.0)] {
        for times in [1, 2, 60] {
            let mechanism = match least {
                0.0 => Mechanism::Pure { epsilon: most },
                delta => Mechanism::Approximate { epsilon: most, delta },
            };
            let total = repeated(mechanism, times);
            for part in [0.05, 0.4] {
                let epsilon = part * most * times as f64;
                let truth = response_delta(most, least, times, epsilon);
                if truth > 1e-13 {
                    let what = format!("({most}, {least}) {times} times at {epsilon}");
                    assert_holds(total.delta_bounds(epsilon).unwrap(), truth, 1e-9, &what);
                }
            }
        }
    }
}

/// Catches a loss with a wrong offset or spacing: atoms of three counts at two scales, enumerated; coarse noise included.
#[test]
fn discrete_noise_composes_by_its_own_law() {
    for (one, other) in [(4.0, 7.5), (1.0, 0.8), (12.0, 2.0)] {
        let law = convolved(&convolved(&counts_law(one), &counts_law(one)), &counts_law(other));
        let mechanisms = [
            Mechanism::DiscreteGaussian { scale: one, moved: 2 },
            Mechanism::DiscreteGaussian { scale: other, moved: 1 },
        ];
        let total = Composition::of(mechanisms).unwrap();
        for epsilon in [0.1, 0.7, 1.5] {
            let what = format!("{one} and {other} at {epsilon}");
            assert_holds(total.delta_bounds(epsilon).unwrap(), delta_of(&law, epsilon), 1e-11, &what);
        }
    }
    // Beyond the table the noise is as good as continuous.
    let coarse = |scale: f64| {
        Composition::of([Mechanism::DiscreteGaussian { scale, moved: 4 }, Mechanism::Pure { epsilon: 1e-6 }])
            .unwrap()
            .epsilon(1e-6)
            .unwrap()
    };
    assert!((coarse(32_000.0) / coarse(33_000.0) - 33.0 / 32.0).abs() < 1e-2);
    let alone = repeated(Mechanism::DiscreteGaussian { scale: 5.0, moved: 2 }, 3);
    let epsilon = alone.epsilon(1e-6).unwrap();
    assert!(alone.delta(epsilon).unwrap() <= 1e-6 && alone.delta(epsilon * (1.0 - 1e-9)).unwrap() > 1e-6);
}

/// Catches a mixture that is merely added up: 2.104 where 2.067 is true.
#[test]
fn gaussian_and_laplace_noise_agree_with_a_convolution() {
    let gaussian = (1.0 / 9.0_f64 + 10.0 / 100.0).sqrt();
    let mut total = repeated(Mechanism::Gaussian { mu: 0.1 }, 10);
    total.push(Mechanism::Gaussian { mu: 1.0 / 3.0 }).unwrap();
    total.push(Mechanism::Laplace { epsilon: 0.05 }).unwrap();
    let law = convolved(&normal_law(gaussian, 4000), &laplace_law(0.05, 1000));
    for epsilon in [0.2, 1.0, 2.0] {
        assert_holds(total.delta_bounds(epsilon).unwrap(), delta_of(&law, epsilon), 1e-3, "mixture");
    }
    let found = total.epsilon_bounds(1e-6).unwrap();
    assert!(
        delta_of(&law, found.upper * (1.0 + 1e-3)) < 1e-6
            && delta_of(&law, found.lower * (1.0 - 1e-3)) > 1e-6
    );
    assert!(found.upper < 2.068 && found.lower > 2.066, "{found:?}");
}

#[test]
fn bounds_are_close_for_all_scales_numbers_and_deltas() {
    for scale in [0.5, 20.0, 300.0] {
        for times in [2, 30, 1000] {
            let total = repeated(Mechanism::Laplace { epsilon: 1.0 / scale }, times);
            for delta in [1e-3, 1e-6, 1e-10_f64] {
                let Bracket { lower, upper } = total.epsilon_bounds(delta).unwrap();
                let what = format!("scale {scale}, {times} times, {delta}: {lower} {upper}");
                assert!(lower <= upper && upper - lower <= 1e-3 * upper, "{what}");
                let (epsilon, k) = (1.0 / scale, times as f64);
                let advanced =
                    epsilon * (2.0 * k * (1.0 / delta).ln()).sqrt() + k * epsilon * epsilon.exp_m1();
                let concentrated = zcdp_epsilon(0.5 * k * epsilon * epsilon, delta).unwrap();
                assert!(upper <= advanced.min(concentrated).min(k * epsilon) * (1.0 + 1e-12), "{what}");
            }
        }
    }
}

#[test]
fn everything_together_and_nonsense() {
    let sampled =
        |neighbours| Mechanism::SubsampledGaussian { sigma: 1.0, rate: 0.01, steps: 100, neighbours };
    let all = [
        Mechanism::Gaussian { mu: 0.2 },
        Mechanism::Pure { epsilon: 0.1 },
        Mechanism::Pure { epsilon: 0.0 },
        Mechanism::Approximate { epsilon: 0.2, delta: 1e-8 },
        Mechanism::Laplace { epsilon: 0.1 },
        Mechanism::DiscreteGaussian { scale: 10.0, moved: 2 },
        sampled(Neighbours::AddRemove),
    ];
    let mut total = Composition::of(all).unwrap();
    let Bracket { lower, upper } = total.epsilon_bounds(1e-6).unwrap();
    assert!(lower > 1.0 && upper < 2.0 && upper - lower < 1e-3 * upper, "{lower} {upper}");
    assert!(total.needs_delta() && total.epsilon(0.0).is_err());
    assert_eq!(total.push(sampled(Neighbours::Substitute)), Err(LossError::MixedNeighbours));
    // A hundred different mechanisms are still answered, a little less tightly.
    let many: Vec<f64> = (1..=100).map(|index| 0.01 + 1e-4 * f64::from(index)).collect();
    let total = Composition::of(many.iter().map(|&epsilon| Mechanism::Laplace { epsilon })).unwrap();
    let root = many.iter().map(|epsilon| epsilon * epsilon).sum::<f64>().sqrt();
    let like = Composition::of([Mechanism::Gaussian { mu: root }]).unwrap().epsilon(1e-6).unwrap();
    let found = total.epsilon(1e-6).unwrap();
    assert!(found > like * 0.98 && found < like * 1.1, "{found} {like}");
    assert!(Composition::of([Mechanism::DiscreteGaussian { scale: 1.0, moved: 0 }]).is_err());
}
