//! Releases, enumeration and z-scores.

use organza_infer::tables::{CountModel, ExactCounts, IndependentCounts};
use organza_mcmc::diagnostics::{Traces, ess_mean};
use organza_mcmc::{Draws, Plan, run};
use organza_release::{
    COUNTS_SCHEMA, CountFamily, CountNoise, CountRelease, LevelColumn, Missing, Neighbours, Norm,
    PrivacyLoss, Tool,
};

/// Independent draws need no warm-up.
pub const PLAN: Plan = Plan { chains: 2, warmup: 0, draws: 40_000, thin: 1, seed: 11, threads: 1 };

/// Two-sided critical value of a z-test at alpha = 1e-6, shared by this many tests (Bonferroni).
pub fn critical_z(tests: usize) -> f64 {
    let tail = 0.5e-6 / tests as f64;
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if 0.5 * libm::erfc(middle / std::f64::consts::SQRT_2) > tail { low = middle } else { high = middle }
    }
    high
}

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

pub fn column(name: &str, levels: usize) -> LevelColumn {
    LevelColumn { name: name.into(), levels: (0..levels).map(|level| level.to_string()).collect() }
}

pub fn noise(family: CountFamily, scale: f64) -> CountNoise {
    CountNoise { family, scale }
}

/// A release of tables with these values.
pub fn release(
    party: &str,
    columns: &[LevelColumn],
    tables: &[&[&str]],
    value: &[f64],
    (noise, records): (CountNoise, Option<u64>),
) -> CountRelease {
    let privacy = PrivacyLoss {
        neighbours: if records.is_some() { Neighbours::Substitute } else { Neighbours::AddRemove },
        epsilon: 1.0,
        delta: 0.0,
        norm: Norm::L1,
        sensitivity: 1.0,
        public_bounds: true,
    };
    CountRelease {
        schema: COUNTS_SCHEMA.into(),
        party: party.into(),
        created: "2026-01-01T00:00:00Z".into(),
        records,
        missing: Missing::Refused,
        columns: columns.to_vec(),
        tables: tables.iter().map(|table| table.iter().map(|name| name.to_string()).collect()).collect(),
        value: value.to_vec(),
        noise,
        privacy,
        tool: Tool { name: "test".into(), version: "0".into() },
    }
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
