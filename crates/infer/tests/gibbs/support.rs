//! Releases to fit, and comparisons of draws.

use organza_infer::Prior;
use organza_infer::methods::{Gibbs, GibbsSampler};
use organza_mcmc::diagnostics::{ess_mean, r_hat};
use organza_mcmc::{Draws, Plan, run};
use organza_release::testing::{published_evenly, unit_box};
use organza_release::{Domain, Family, Layout, Release};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// Noise of a release: its family, its scale in weighted units, that of y'y relative to it.
#[derive(Clone, Copy)]
pub struct Mechanism {
    pub family: Family,
    pub scale: f64,
    pub response: f64,
}

pub const fn gaussian(scale: f64) -> Mechanism {
    Mechanism { family: Family::Gaussian, scale, response: 1.0 }
}

/// A prior under which chains mix fast: that of the residual variance has a mean.
pub fn prior(size: usize) -> Prior {
    let identity: Vec<f64> = (0..size * size).map(|k| f64::from(u8::from(k % (size + 1) == 0))).collect();
    Prior::new(vec![0.0; size], &identity, (2.0, 0.1)).unwrap()
}

pub fn domain(record_scale: Option<f64>, intercept_weight: f64, response_weight: f64) -> Domain {
    unit_box(&["a", "b"], true, record_scale, (intercept_weight, response_weight))
}

/// A release of the Gram matrix (row-major, response last) of so many records.
pub fn release(party: &str, domain: &Domain, gram: &[f64], records: u64, noise: Mechanism) -> Release {
    let even = (noise.family, noise.scale);
    let mut release = published_evenly(party, domain, (Layout::Isometric, records), gram, even);
    *release.noise.scales.last_mut().unwrap() *= noise.response;
    release
}

/// Records (1, a, b, y).
pub fn records(count: usize, seed: u64) -> Vec<[f64; 4]> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut record = || {
        let (a, b): (f64, f64) = (rng.random_range(-0.8..1.0), rng.random_range(-1.0..1.0));
        [1.0, a, b, 0.1 + 0.5 * a - 0.3 * b + rng.random_range(-0.2..0.2)]
    };
    (0..count).map(|_| record()).collect()
}

pub fn gram(records: &[[f64; 4]]) -> Vec<f64> {
    (0..16).map(|k| records.iter().map(|w| w[k / 4] * w[k % 4]).sum()).collect()
}

pub fn fit(gibbs: &Gibbs, seed: u64, draws: usize) -> Draws {
    let plan = Plan { chains: 4, warmup: 500, draws, seed, threads: 1, ..Plan::default() };
    run(&GibbsSampler, gibbs, &plan).unwrap()
}

/// The values of a function of the draws, its mean and the standard error of that.
pub fn mean(draws: &Draws, name: &str, function: impl Fn(f64) -> f64) -> (f64, f64) {
    let traces = draws.traces(name).unwrap();
    assert!(r_hat(&traces) < 1.05, "{name} has not converged: {}", r_hat(&traces));
    let traces = traces.map(function);
    let n = traces.values().len() as f64;
    let mean = traces.values().iter().sum::<f64>() / n;
    let variance = traces.values().iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
    (mean, (variance / ess_mean(&traces)).sqrt())
}

/// |z| beyond this has probability 1e-6 over at most twenty comparisons.
const LARGEST: f64 = 5.5;

pub fn agree(found: (f64, f64), expected: (f64, f64), what: &str) {
    let z = (found.0 - expected.0) / found.1.hypot(expected.1);
    assert!(z.abs() < LARGEST, "{what}: {} against {}, z = {z}", found.0, expected.0);
}

/// Means, variances and quartiles of two fits; `names` are parameters.
pub fn same_law(one: &Draws, other: &Draws, names: &[&str]) {
    for name in names {
        let (first, _) = mean(one, name, |value| value);
        let (spread, _) = mean(one, name, |value| (value - first).powi(2));
        for (label, offset) in [("first", -0.674), ("second", 0.0), ("third", 0.674)] {
            let below = |value: f64| f64::from(u8::from(value < first + offset * spread.sqrt()));
            agree(mean(one, name, below), mean(other, name, below), &format!("{name}, {label} quartile"));
        }
        agree(mean(one, name, |x| x), mean(other, name, |x| x), name);
        let square = |value: f64| (value - first).powi(2);
        agree(mean(one, name, square), mean(other, name, square), &format!("{name}, variance"));
    }
}

pub const ALL: [&str; 5] = ["theta[1]", "theta[2]", "theta[3]", "theta[4]", "theta[5]"];
