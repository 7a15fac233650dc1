//! Chains without an acceptance test: their laws are known on a normal posterior, where a step is linear.

use organza_mcmc::diagnostics::{Traces, mcse_mean};
use organza_mcmc::{Plan, run};

use super::super::kernels::{DpSgld, DpSgnht, Langevin, Start};
use super::super::models::GaussianMean;
use super::*;

const ROWS: usize = 50;

fn one_gradient(noise: f64, rate: f64) -> StepQueries {
    let gradient = Some(GradientQuery { times: 1, clip: 50.0, noise, rate });
    StepQueries { gradient, ratio: None, count_weight: 0.0, dimension: 1 }
}

fn oracle(noise: f64, rate: f64) -> PrivateOracle<GaussianMean> {
    rehearse(GaussianMean::new(&[1.0], 100.0).unwrap(), &[0.3], ROWS, one_gradient(noise, rate))
}

/// Posterior mean, and draws around it squared, with the standard error of their mean.
fn variance_of_chain(oracle: &PrivateOracle<GaussianMean>, kernel: &DpSgld) -> (f64, f64) {
    let records = oracle.rehearsed_records().unwrap();
    let sum: f64 = (0..ROWS).map(|row| records.value(row, 0)).sum();
    let mean = sum / (ROWS as f64 + 1e-4);
    let plan = Plan { chains: 4, warmup: 200, draws: 20_000, thin: 1, seed: 3, threads: 1 };
    let draws = run(kernel, oracle, &plan).unwrap();
    let square = |chain: &[f64]| chain.iter().map(|value| (value - mean).powi(2)).collect();
    let squares: Vec<Vec<f64>> = draws.values().chunks(20_000).map(square).collect();
    let traces = Traces::new(&squares);
    (traces.values().iter().sum::<f64>() / traces.values().len() as f64, mcse_mean(&traces))
}

fn sgld(step_size: f64, noise: Langevin) -> DpSgld {
    DpSgld { start: Start { centre: vec![0.3], sd: vec![0.1] }, step_size, noise }
}

/// theta' = (1 - e l) theta + noise of variance v has the stationary variance v / (1 - (1 - e l)^2), l the posterior precision.
fn stationary(e: f64, v: f64) -> f64 {
    let l = ROWS as f64 + 1e-4;
    v / (1.0 - (1.0 - e * l).powi(2))
}

/// Catches a wrong amount of injected noise, and privacy noise that is added on top instead of counted.
#[test]
fn langevin_chains_have_the_variance_that_their_noise_implies_and_the_published_one_half_of_it() {
    let e = 0.002;
    // Privacy noise sd 50 * noise: the step has e times it. 0.2 leaves room for public noise, 0.6325 / 0.447 fills 2e / e alone.
    for (noise, form, variance) in [
        (0.0, Langevin::Right, 2.0 * e),
        (0.2, Langevin::Right, 2.0 * e),
        (0.2, Langevin::Published, e),
        (1.0, Langevin::Right, (e * 50.0f64).powi(2)),
    ] {
        let (found, error) = variance_of_chain(&oracle(noise, 1.0), &sgld(e, form));
        let expected = stationary(e, variance);
        assert!(
            (found - expected).abs() < 5.0 * error,
            "{noise} {form:?}: {found} +- {error}, not {expected}"
        );
    }
    assert!(stationary(e, e) / stationary(e, 2.0 * e) == 0.5);
}

/// Sampled gradients are right on average and have the variance of a Poisson sample on top. Catches a sum that is not divided by the rate.
#[test]
fn sampled_gradients_add_their_own_variance() {
    let (e, rate) = (0.002, 0.5);
    let oracle = oracle(0.0, rate);
    let records = oracle.rehearsed_records().unwrap();
    let mean = (0..ROWS).map(|row| records.value(row, 0)).sum::<f64>() / ROWS as f64;
    // The sum of (y - theta) over a sample over the rate has the variance (1 - q)/q sum (y - theta)^2, with theta near the mean.
    let around: f64 = (0..ROWS).map(|row| (records.value(row, 0) - mean).powi(2)).sum();
    let (found, error) = variance_of_chain(&oracle, &sgld(e, Langevin::Right));
    // theta itself moves: sum (y - theta)^2 = around + n (theta - mean)^2, whose average is n times the answer.
    let share = e * e * (1.0 - rate) / rate;
    let base = stationary(e, 2.0 * e + share * around);
    let expected = base / (1.0 - stationary(e, share * ROWS as f64));
    assert!((found - expected).abs() < 5.0 * error, "{found} +- {error}, not {expected}");
}

/// The thermostat takes up noise that nobody told it of; without it the chain would be wider by more than a third.
#[test]
fn the_thermostat_absorbs_noise() {
    let oracle = oracle(0.4, 1.0); // sd 20 in each gradient, h = 0.02: variance 0.16 in a step
    let h = 0.02;
    let kernel = DpSgnht { start: Start { centre: vec![0.3], sd: vec![0.1] }, step_size: h, friction: 1.0 };
    let plan = Plan { chains: 4, warmup: 5000, draws: 40_000, thin: 1, seed: 3, threads: 1 };
    let draws = run(&kernel, &oracle, &plan).unwrap();
    let all = draws.values();
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    let variance = all.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / all.len() as f64;
    let ratio = variance * ROWS as f64;
    assert!((0.85..1.2).contains(&ratio), "variance over the posterior's: {ratio}");
}
