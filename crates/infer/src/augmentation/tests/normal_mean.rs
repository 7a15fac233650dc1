//! The mean of a clamped normal variable: the posterior by brute force.

use organza_mcmc::{Kernel, Plan, run};

use super::super::{Interweaving, Plain};
use super::*;

const RECORDS: u64 = 20;
/// Much is clamped at 1.
const SD: f64 = 0.8;
const EPSILON: f64 = 3.0;
const RELEASED: f64 = 9.0;
/// Points of the grid between -1 and 1.
const POINTS: usize = 201;

fn phi(x: f64) -> f64 {
    0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)
}

/// Probabilities of one clamped record on the grid: every cell has its mass, the ends have the tails too.
fn clamped(mean: f64) -> Vec<f64> {
    let step = 2.0 / (POINTS - 1) as f64;
    let below = |k: usize| match k {
        0 => 0.0,
        POINTS => 1.0,
        _ => phi((-1.0 + (k as f64 - 0.5) * step - mean) / SD),
    };
    (0..POINTS).map(|k| below(k + 1) - below(k)).collect()
}

fn convolve(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; a.len() + b.len() - 1];
    for (k, factor) in a.iter().enumerate() {
        out[k..].iter_mut().zip(b).for_each(|(sum, value)| *sum += factor * value);
    }
    out
}

/// p(released | mean): the law of the sum of twenty clamped records against Laplace noise.
fn likelihood(mean: f64, scale: f64) -> f64 {
    let one = clamped(mean);
    let two = convolve(&one, &one);
    let four = convolve(&two, &two);
    let eight = convolve(&four, &four);
    let twenty = convolve(&convolve(&eight, &eight), &four);
    let step = 2.0 / (POINTS - 1) as f64;
    let sums = twenty.iter().enumerate().map(|(k, p)| (k as f64 * step - RECORDS as f64, p));
    sums.map(|(sum, p)| p * (-(RELEASED - sum).abs() / scale).exp()).sum()
}

/// Grid of the mean with posterior weights; prior N(0, 1).
fn posterior(scale: f64) -> Vec<(f64, f64)> {
    let means = (0..101).map(|k| -1.0 + 0.036 * f64::from(k));
    let weights: Vec<(f64, f64)> =
        means.map(|mean| (mean, likelihood(mean, scale) * (-0.5 * mean * mean).exp())).collect();
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    assert!(weights[0].1 < 1e-7 * total && weights[100].1 < 1e-7 * total, "the grid is too short");
    weights.into_iter().map(|(mean, weight)| (mean, weight / total)).collect()
}

fn target() -> Augmented<LinearModel, GramMechanism> {
    let domain = boxed(0, true, None);
    let mut release = laplace(&domain, vec![[0, 1]], (RECORDS, EPSILON));
    release.value[0] = RELEASED;
    release.noise.scales[0] = 2.0 / EPSILON;
    let model = weak_model(0, true).with_variance(SD * SD).unwrap();
    Augmented { model, parties: vec![GramMechanism::of(&release).unwrap()] }
}

/// Means of several functions of the draws against their integrals.
fn check<K: Kernel<Augmented<LinearModel, GramMechanism>>>(
    label: &str,
    (kernel, target): (&K, &Augmented<LinearModel, GramMechanism>),
    posterior: &[(f64, f64)],
    draws: usize,
) {
    let expected = |f: &dyn Fn(f64) -> f64| posterior.iter().map(|(mean, p)| p * f(*mean)).sum::<f64>();
    let plan = Plan { chains: 4, warmup: 1000, draws, seed: 17, threads: 1, thin: 1 };
    let draws = run(kernel, target, &plan).unwrap();
    let centre = expected(&|x| x);
    agree(&format!("{label}, mean"), mean(&draws, 0, |x| x), (centre, 0.0));
    let square = |x: f64| (x - centre).powi(2);
    agree(&format!("{label}, variance"), mean(&draws, 0, square), (expected(&square), 0.0));
    agree(
        &format!("{label}, third moment"),
        mean(&draws, 0, |x| x * square(x)),
        (expected(&|x| x * square(x)), 0.0),
    );
    // The distribution function, smoothed so that the grid integrates it exactly.
    for cut in [0.2, 0.45, 0.7, 1.0] {
        let below = |x: f64| libm::atan((cut - x) / 0.1);
        agree(&format!("{label}, below {cut}"), mean(&draws, 0, below), (expected(&below), 0.0));
    }
}

/// The inverse scale of the only released entry, from the density itself.
fn precision(mechanism: &GramMechanism) -> f64 {
    let at = |sum: f64| mechanism.log_density(&[0.0, sum, 0.0]);
    at(0.0) - at(-1.0)
}

/// Catches a mean that is drawn from clamped records, a ratio upside down, and a sum that is not updated. Those bend the law by many
/// standard errors: the sum of unclamped records of the same law has a mean of 0.45, the posterior is centred at about 0.6.
#[test]
fn the_posterior_of_a_clamped_mean_is_that_of_quadrature() {
    let target = target();
    let posterior = posterior(1.0 / precision(&target.parties[0]));
    let woven = Interweaving::new(&target);
    check("plain", (&Plain, &target), &posterior, 60_000);
    check("interweaving", (&woven, &target), &posterior, 30_000);
    check("exchanges", (&woven.clone().always_exchanging(), &target), &posterior, 20_000);
}
