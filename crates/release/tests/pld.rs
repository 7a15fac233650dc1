//! Bounds of composed losses by Fourier transform: against closed forms, integrals, and an independent accountant.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use organza_release::Neighbours::{self, AddRemove, Substitute};
use organza_release::loss::pld::{Bracket, Step, SubsampledGaussian, compose, steps_for};
use organza_release::loss::{LossError, gaussian_delta, gaussian_epsilon};

fn poisson(sigma: f64, rate: f64, relation: Neighbours) -> Step {
    SubsampledGaussian { sigma, rate, relation }.into()
}

fn assert_contains(bracket: Bracket, truth: f64, gap: f64, what: &str) {
    let Bracket { lower, upper } = bracket;
    assert!(lower <= truth && truth <= upper, "{what}: {truth} is not in [{lower}, {upper}]");
    assert!(upper - lower <= gap * upper, "{what}: [{lower}, {upper}] is wider than {gap}");
}

/// Catches a bias of the grid, of the tilt or of the window: k Gaussian steps have a closed form.
#[test]
fn gaussian_steps_agree_with_the_closed_form() {
    for (mu, times, delta) in [(1.0, 1, 1e-5), (0.2, 30, 1e-9), (0.01, 20_000, 1e-7)] {
        let composed = compose(&[(Step::Gaussian { mu }, times)]).unwrap();
        let total = mu * (times as f64).sqrt();
        let what = format!("mu = {mu}, {times} times");
        let epsilon = gaussian_epsilon(delta, total).unwrap();
        assert_contains(composed.epsilon(delta).unwrap(), epsilon, 1e-3, &what);
        assert_contains(composed.delta(1.5).unwrap(), gaussian_delta(1.5, total).unwrap(), 1e-2, &what);
    }
}

/// Catches a wrong mass of the atoms at the ends, and a wrong density between them.
#[test]
fn laplace_steps_agree_with_closed_forms() {
    let (one, at) = (0.7_f64, 0.3_f64);
    let once = compose(&[(Step::Laplace { epsilon: one }, 1)]).unwrap();
    assert_contains(once.delta(at).unwrap(), 1.0 - (0.5 * (at - one)).exp(), 1e-3, "once");
    // Twice: the loss of the second step is an atom, an exponential density, or an atom.
    let delta = |at: f64| if at < one { (1.0 - (0.5 * (at - one)).exp()).clamp(0.0, 1.0) } else { 0.0 };
    let delta = |at: f64| if at < -one { 1.0 - at.exp() } else { delta(at) };
    let cells = 200_000;
    let width = 2.0 * one / f64::from(cells);
    let middle: f64 = (0..cells)
        .map(|cell| -one + (f64::from(cell) + 0.5) * width)
        .map(|loss| 0.25 * (0.5 * (loss - one)).exp() * delta(at - loss) * width)
        .sum();
    let twice = 0.5 * delta(at - one) + 0.5 * (-one).exp() * delta(at + one) + middle;
    let found = compose(&[(Step::Laplace { epsilon: one }, 2)]).unwrap().delta(at).unwrap();
    assert_contains(found, twice, 1e-3, "twice");
}

fn normal(x: f64, centre: f64, sigma: f64) -> f64 {
    (-0.5 * ((x - centre) / sigma).powi(2)).exp() / (sigma * (2.0 * std::f64::consts::PI).sqrt())
}

/// The integral over one or two outputs of max(0, P - e^epsilon Q), by the trapezoidal rule.
fn integral(p: impl Fn(f64) -> f64, q: impl Fn(f64) -> f64, epsilon: f64, twice: bool) -> f64 {
    let cells = if twice { 3000 } else { 400_000 };
    let width = 24.0 / f64::from(cells);
    let points: Vec<(f64, f64)> = (0..=cells)
        .map(|cell| -12.0 + f64::from(cell) * width)
        .map(|x| (p(x) * width, q(x) * width))
        .collect();
    let factor = epsilon.exp();
    let over = |p: f64, q: f64| points.iter().map(|(a, b)| (p * a - factor * q * b).max(0.0)).sum::<f64>();
    if twice { points.iter().map(|(a, b)| over(*a, *b)).sum() } else { over(1.0, 1.0) }
}

/// Catches a wrong pair, a swapped order and a wrong inverse of the loss: once and twice, by brute force.
#[test]
fn subsampled_steps_agree_with_integrals() {
    let (sigma, rate, epsilon) = (1.1, 0.2, 0.4);
    let mixture = |x: f64, shift: f64| (1.0 - rate) * normal(x, 0.0, sigma) + rate * normal(x, shift, sigma);
    for twice in [false, true] {
        let times = if twice { 2 } else { 1 };
        let removed = integral(|x| mixture(x, 1.0), |x| normal(x, 0.0, sigma), epsilon, twice);
        let added = integral(|x| normal(x, 0.0, sigma), |x| mixture(x, 1.0), epsilon, twice);
        let exchanged = integral(|x| mixture(x, 1.0), |x| mixture(x, -1.0), epsilon, twice);
        for (relation, truth) in [(AddRemove, removed.max(added)), (Substitute, exchanged)] {
            let found = compose(&[(poisson(sigma, rate, relation), times)]).unwrap().delta(epsilon).unwrap();
            // The integral is good to about 1e-6 of itself; a wrong pair is wrong by far more.
            let widened = Bracket { lower: found.lower * (1.0 - 1e-5), upper: found.upper * (1.0 + 1e-5) };
            assert_contains(widened, truth, 1e-3, &format!("{relation:?}, {times} times"));
        }
    }
}

/// Catches anything that only shows in long compositions: see the head of the table for its provenance.
#[test]
fn overlaps_the_range_of_an_independent_accountant() {
    let rows = include_str!("golden/pld.csv").lines().filter(|line| !line.starts_with('#')).skip(1);
    let mut count = 0;
    for row in rows {
        let (kind, numbers) = row.split_once(',').unwrap();
        let numbers: Vec<f64> = numbers.split(',').map(|field| field.parse().unwrap()).collect();
        let [noise, rate, times, delta, least, most] = numbers[..] else { unreachable!("six numbers") };
        let step = if kind == "laplace" {
            Step::Laplace { epsilon: noise }
        } else {
            poisson(noise, rate, AddRemove)
        };
        let found = compose(&[(step, times as u64)]).unwrap().epsilon(delta).unwrap();
        assert!(found.lower <= most && least <= found.upper, "{row}: {found:?}");
        assert!(found.upper - found.lower < 1e-3 * found.upper, "{row}: {found:?}");
        assert!((found.upper / most - 1.0).abs() < 1e-3, "{row}: {found:?}");
        count += 1;
    }
    assert_eq!(count, 9);
}

/// \[RKH21\] section 4: the numbers of steps of DP-SGLD on the banana, per chain of four, in the convention of its code:
/// the noise sqrt(e) of a step, e = 1 / n, over the 2C b^-1 = 0.4 / 1000 by which a record can move it.
#[test]
fn published_budgets_of_langevin_chains() {
    let sigma = 1e-5_f64.sqrt() / (0.4 / 1000.0);
    for (epsilon, published) in [(2.0, 7852.0), (8.0, 91_637.0)] {
        let steps = steps_for(poisson(sigma, 0.01, Substitute), epsilon, 1e-6).unwrap();
        assert!(
            (steps as f64 / 4.0 / published - 1.0).abs() < 5e-4,
            "{epsilon}: {steps} / 4, not {published}"
        );
    }
}

/// Catches an upper bound of delta that is 1 where few steps come nowhere near epsilon: the search for the last step that is private stopped there, after 88 of
/// 86,000.
#[test]
fn delta_grows_with_the_steps_and_is_small_for_few() {
    let step = poisson(2.282_177_32, 0.01, Substitute);
    let delta = |times: u64| compose(&[(step, times)]).unwrap().delta(15.0).unwrap().upper;
    for times in [1, 7, 22, 88, 100, 256, 700, 4096, 40_000] {
        assert!(delta(times) < 1e-10, "{times} steps: {}", delta(times));
    }
    let steps = steps_for(step, 15.0, 1e-6).unwrap();
    assert!(delta(steps) <= 1e-6 && delta(steps + steps / 1000) > 1e-6, "{steps}: {}", delta(steps));
    assert!((80_000..100_000).contains(&steps), "{steps}");
}

/// Catches a lower bound that is trivial far from 0, and a grid too coarse for rare large losses.
#[test]
fn bounds_stay_tight_in_long_and_in_lopsided_compositions() {
    for (sigma, rate, times, delta) in [(1.0, 0.01, 100_000, 1e-9), (0.5, 0.01, 100, 1e-6)] {
        let found = compose(&[(poisson(sigma, rate, AddRemove), times)]).unwrap().epsilon(delta).unwrap();
        let Bracket { lower, upper } = found;
        assert!(0.0 < lower && lower <= upper && upper - lower < 1e-3 * upper, "{sigma}: {found:?}");
    }
}

/// Catches a mixture that forgets a part or a number of times, and errors that do not name the cause.
#[test]
fn mixtures_add_up_and_nonsense_is_refused() {
    let mixed = compose(&[(Step::Gaussian { mu: 0.3 }, 2), (Step::Gaussian { mu: 0.1 }, 7)]).unwrap();
    let mu = (2.0 * 0.09 + 7.0 * 0.01_f64).sqrt();
    assert_contains(mixed.epsilon(1e-6).unwrap(), gaussian_epsilon(1e-6, mu).unwrap(), 1e-3, "mixture");
    let mixed = [(poisson(1.0, 0.1, AddRemove), 1), (poisson(1.0, 0.1, Substitute), 1)];
    assert_eq!(compose(&mixed).unwrap_err(), LossError::MixedNeighbours);
    assert!(compose(&[]).unwrap_err().to_string().starts_with("steps = 0"));
    assert!(compose(&[(poisson(1.0, 1.5, AddRemove), 1)]).unwrap_err().to_string().starts_with("rate = 1.5"));
}
