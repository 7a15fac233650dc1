//! Releases with chosen noise, and z-tests of draws against exact moments.
#![allow(dead_code, reason = "each test uses a part")]

pub mod brute_force;
pub mod cases;

use organza_mcmc::diagnostics::{Traces, mcse_mean};
use organza_mcmc::{ChainRng, Draws};
pub use organza_release::testing::critical_z;
use organza_release::testing::{numbered, published_evenly, unit_ball, unit_box};
use organza_release::{Domain, Family, Layout, Release};
use rand::RngExt;
use rand_distr::StandardNormal;

/// A release of a Gram matrix (row-major, plain units, response last) with noise of one scale in weighted units.
pub fn release(
    party: &str,
    domain: Domain,
    layout: Layout,
    gram: &[f64],
    (records, noise): (u64, f64),
) -> Release {
    published_evenly(party, &domain, (layout, records), gram, (Family::Gaussian, noise))
}

/// Records x in a ball, no intercept.
pub fn ball(features: usize, response_weight: f64) -> Domain {
    unit_ball(&numbered(features), response_weight)
}

/// Records in a box with an intercept, scaled or not.
pub fn boxed(features: usize, record_scale: Option<f64>, weights: (f64, f64)) -> Domain {
    unit_box(&numbered(features), true, record_scale, weights)
}

/// A noisy Gram matrix of random records for this domain: correlated features, coefficients that alternate.
pub fn noisy_gram(rng: &mut ChainRng, domain: &Domain, records: usize, noise: f64) -> Vec<f64> {
    let size = domain.dimension();
    let constant = usize::from(domain.intercept());
    let mut gram = vec![0.0; size * size];
    for _ in 0..records {
        let mut w = vec![1.0; size];
        let common: f64 = rng.sample(StandardNormal);
        for value in &mut w[constant..size - 1] {
            *value =
                0.1 * f64::from(constant as u8) + 0.25 * rng.sample::<f64, _>(StandardNormal) + 0.15 * common;
        }
        let mean: f64 = (0..size - 1).map(|k| w[k] * if k % 2 == 0 { 0.5 } else { -0.3 }).sum();
        w[size - 1] = mean + 0.2 * rng.sample::<f64, _>(StandardNormal);
        (0..size * size).for_each(|k| gram[k] += w[k / size] * w[k % size]);
    }
    for row in 0..size {
        for column in row..size {
            let sd = if row == column { noise } else { noise / 2.0_f64.sqrt() };
            let value = gram[row * size + column] + sd * rng.sample::<f64, _>(StandardNormal);
            gram[row * size + column] = value;
            gram[column * size + row] = value;
        }
    }
    gram
}

/// Mean of a function of a draw, and its Monte Carlo standard error.
fn mean_and_error(draws: &Draws, function: impl Fn(&[f64]) -> f64) -> (f64, f64) {
    let chain = |chain: usize| (0..draws.records()[chain].draws).map(move |k| (chain, k));
    let value = |(chain, k): (usize, usize)| function(draws.draw(chain, k).unwrap());
    let chains: Vec<Vec<f64>> = (0..draws.chains()).map(|c| chain(c).map(value).collect()).collect();
    let traces = Traces::new(&chains);
    (traces.values().iter().sum::<f64>() / traces.values().len() as f64, mcse_mean(&traces))
}

/// z of the mean of a function of a draw against its exact expectation, from the draws' own effective size.
pub fn z_of(draws: &Draws, function: impl Fn(&[f64]) -> f64, exact: f64) -> f64 {
    let (mean, error) = mean_and_error(draws, function);
    (mean - exact) / error
}

/// z of the difference of the means of a function of a draw in two runs.
pub fn z_between(one: &Draws, other: &Draws, function: impl Fn(&[f64]) -> f64 + Copy) -> f64 {
    let ((a, of_a), (b, of_b)) = (mean_and_error(one, function), mean_and_error(other, function));
    (a - b) / (of_a * of_a + of_b * of_b).sqrt()
}
