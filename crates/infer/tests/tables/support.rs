//! Releases, enumeration and z-scores.

use organza_infer::tables::{CountModel, ExactCounts, IndependentCounts};
use organza_mcmc::diagnostics::{Traces, ess_mean};
use organza_mcmc::{Draws, Plan, run};
pub use organza_release::testing::{counts as release, critical_z, level_column as column};
use organza_release::{CountFamily, CountNoise};

/// Independent draws need no warm-up.
pub const PLAN: Plan = Plan { chains: 2, warmup: 0, draws: 40_000, thin: 1, seed: 11, threads: 1 };

/// z of the mean of a function of the draws, by its effective size.
pub fn z_of(draws: &Draws, function: impl Fn(&[f64]) -> f64, expected: f64) -> f64 {
    let names = vec!["f".to_string()];
    let values = draws.converted(names, |row, out| out[0] = function(row)).unwrap();
    let traces: Traces = values.traces("f").unwrap();
    let size = ess_mean(&traces);
    let (values, n) = (traces.values(), draws.total() as f64);
    let mean = values.iter().sum::<f64>() / n;
    let sd = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
    if sd == 0.0 { (mean - expected) * 1e9 } else { (mean - expected) / sd * size.sqrt() }
}

pub fn noise(family: CountFamily, scale: f64) -> CountNoise {
    CountNoise { family, scale }
}

pub fn draw(model: CountModel) -> Draws {
    let target = ExactCounts::new(model).unwrap();
    run(&IndependentCounts, &target, &PLAN).unwrap().named(target.names().to_vec()).unwrap()
}

/// All ways to divide `total` among `cells`.
pub fn compositions(total: usize, cells: usize) -> Vec<Vec<usize>> {
    if cells == 1 {
        return vec![vec![total]];
    }
    let mut all = Vec::new();
    for first in 0..=total {
        for mut rest in compositions(total - first, cells - 1) {
            rest.insert(0, first);
            all.push(rest);
        }
    }
    all
}

/// Likelihood of a noisy count, up to a constant; written down once more on purpose.
pub fn log_noise(noise: &CountNoise, residual: f64) -> f64 {
    match noise.family {
        CountFamily::Laplace | CountFamily::DiscreteLaplace => -residual.abs() / noise.scale,
        CountFamily::Gaussian | CountFamily::DiscreteGaussian => -0.5 * (residual / noise.scale).powi(2),
    }
}

pub fn ln_factorial(n: usize) -> f64 {
    libm::lgamma(n as f64 + 1.0)
}

/// ln of the multivariate beta function of concentrations plus counts.
pub fn ln_beta(concentrations: &[f64], counts: &[usize]) -> f64 {
    let shapes: Vec<f64> = concentrations.iter().zip(counts).map(|(a, n)| a + *n as f64).collect();
    shapes.iter().map(|shape| libm::lgamma(*shape)).sum::<f64>() - libm::lgamma(shapes.iter().sum())
}

/// Normalises log weights.
pub fn normalise(logs: &[f64]) -> Vec<f64> {
    let peak = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logs.iter().map(|log| (log - peak).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

/// Mean and product moments E[p_k p_k+1] of a Dirichlet vector.
pub fn dirichlet_moments(concentrations: &[f64], counts: &[usize]) -> (Vec<f64>, Vec<f64>) {
    let shapes: Vec<f64> = concentrations.iter().zip(counts).map(|(a, n)| a + *n as f64).collect();
    let total: f64 = shapes.iter().sum();
    let means = shapes.iter().map(|shape| shape / total).collect();
    let size = shapes.len();
    let products = (0..size).map(|k| shapes[k] * shapes[(k + 1) % size] / (total * (total + 1.0))).collect();
    (means, products)
}

/// Adds weight times values to sums.
pub fn add(sums: &mut [f64], weight: f64, values: &[f64]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
}
