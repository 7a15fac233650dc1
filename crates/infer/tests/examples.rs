//! The examples run, and the one with a density of its own is right.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

#[path = "../examples/objective_perturbation.rs"]
mod objective_perturbation;
#[path = "../examples/own_model.rs"]
mod own_model;

use objective_perturbation::{NormalMean, RobustMean};
use organza_infer::augmentation::{Augmented, Plain};
use organza_mcmc::diagnostics::mcse_mean;
use organza_mcmc::{Plan, run};

#[test]
fn a_model_of_ones_own() {
    own_model::main().unwrap();
}

#[test]
fn an_estimate_by_objective_perturbation() {
    objective_perturbation::main().unwrap();
}

/// p(t | x1, x2), from the cumulative distribution of b at the equation that defines t: no derivative by hand.
fn density(released: f64, ridge: f64, scale: f64, records: [f64; 2]) -> f64 {
    let noise = |t: f64| {
        let slope = |x: f64| (t - x) / (1.0 + (t - x) * (t - x)).sqrt();
        -(records.map(slope).iter().sum::<f64>() + ridge * t)
    };
    let below = |b: f64| if b < 0.0 { 0.5 * (b / scale).exp() } else { 1.0 - 0.5 * (-b / scale).exp() };
    let step = 1e-4;
    // t grows as b falls.
    (below(noise(released - step)) - below(noise(released + step))) / (2.0 * step)
}

/// Catches a missing or wrong Jacobian and contributions at another point than the released one: two records, by quadrature.
#[test]
fn objective_perturbation_has_the_posterior_of_quadrature() {
    let (released, ridge, scale) = (1.5, 0.3, 0.6);
    let grid: Vec<f64> = (0..=300).map(|k| -9.0 + 0.07 * f64::from(k)).collect();
    let table: Vec<f64> =
        grid.iter().flat_map(|x| grid.iter().map(|y| density(released, ridge, scale, [*x, *y]))).collect();
    let posterior = |mean: f64| {
        let normal: Vec<f64> = grid.iter().map(|x| (-0.5 * (x - mean) * (x - mean)).exp()).collect();
        let rows = table.chunks_exact(grid.len()).zip(&normal);
        let inner = |row: &[f64]| row.iter().zip(&normal).map(|(p, weight)| p * weight).sum::<f64>();
        rows.map(|(row, weight)| weight * inner(row)).sum::<f64>() * (-mean * mean / 8.0).exp()
    };
    let means: Vec<(f64, f64)> =
        (0..=140).map(|k| -5.0 + 0.08 * f64::from(k)).map(|mean| (mean, posterior(mean))).collect();
    let total: f64 = means.iter().map(|(_, weight)| weight).sum();
    let target =
        Augmented { model: NormalMean, parties: vec![RobustMean { records: 2, released, ridge, scale }] };
    let plan = Plan { chains: 4, warmup: 500, draws: 60_000, seed: 12, threads: 1, thin: 1 };
    let draws = run(&Plain, &target, &plan).unwrap();
    let traces = draws.traces(&draws.names()[0]).unwrap();
    for power in 1..=3 {
        let expected = means.iter().map(|(mean, weight)| mean.powi(power) * weight).sum::<f64>() / total;
        let powers = traces.map(|x| x.powi(power));
        let found = powers.values().iter().sum::<f64>() / powers.values().len() as f64;
        let z = (found - expected) / mcse_mean(&powers);
        println!("moment {power}: {found} against {expected}, z = {z}");
        // alpha = 1e-6 over three comparisons.
        assert!(z.abs() < 5.1, "moment {power}: {found} against {expected}, z = {z}");
    }
}
