//! Simulation-based calibration of `individual` where sums over records are far from normal: twenty records, cut to their bounds,
//! Laplace noise, an intercept and one feature, as in \[BS19\] section 4.2, one party or two.
//!
//! Ranks of the truth must be uniform; alpha = 1e-6, Bonferroni over all cells. Seen to catch: records that are not cut.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use organza_infer::{Method, MethodSpec, ModelSpec, fit};
use organza_mcmc::{Monitor, Plan};
use organza_release::testing::{published, unit_box};
use organza_release::{Domain, Family, Layout, Norm, PrivacyLoss, Release, Statistic, gram_entries};
use organza_stattests::ALPHA;
use organza_studies::calibration::Ranks;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Gamma, StandardNormal};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

const RECORDS: u64 = 20;
const DRAWS: usize = 99;
const REPLICATES: u64 = 120;
/// The exact sensitivity of the five sums of (1, u, v).
const SENSITIVITY: f64 = 16.0 / 3.0;
const NAMES: [&str; 3] = ["beta[intercept]", "beta[x]", "sigma"];

/// What the default prior drew.
struct Truth {
    theta: [f64; 2],
    variance: f64,
    mean: f64,
    sd: f64,
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

fn gamma(rng: &mut ChaCha8Rng, shape: f64) -> f64 {
    Gamma::new(shape, 1.0).unwrap().sample(rng)
}

/// theta ~ N(0, I), sigma^2 ~ IG(1, 0.005), Sigma_x ~ IW(0.1, 3), mu ~ N(0, Sigma_x).
fn truth(rng: &mut ChaCha8Rng) -> Truth {
    let sd = (0.05 / gamma(rng, 1.5)).sqrt();
    let mean = sd * normal(rng);
    Truth { theta: [normal(rng), normal(rng)], variance: 0.005 / gamma(rng, 1.0), mean, sd }
}

fn domain(record_scale: Option<f64>) -> Domain {
    unit_box(&["x"], true, record_scale, (1.0, 1.0))
}

fn laplace(rng: &mut ChaCha8Rng) -> f64 {
    let sign = if rng.random::<bool>() { 1.0 } else { -1.0 };
    sign * gamma(rng, 1.0)
}

/// A release of cut (and shrunk) records with Laplace noise.
fn release(party: usize, truth: &Truth, radius: Option<f64>, scale: f64, rng: &mut ChaCha8Rng) -> Release {
    let domain = domain(radius);
    let mut gram = [[0.0; 3]; 3];
    for _ in 0..RECORDS {
        let x = truth.mean + truth.sd * normal(rng);
        let y = truth.theta[0] + truth.theta[1] * x + truth.variance.sqrt() * normal(rng);
        let (u, v) = (x.clamp(-1.0, 1.0), y.clamp(-1.0, 1.0));
        let factor = radius.map_or(1.0, |radius| (radius / 1f64.hypot(u)).min(1.0));
        let record = [factor, factor * u, factor * v];
        (0..9).for_each(|k| gram[k / 3][k % 3] += record[k / 3] * record[k % 3]);
    }
    let statistic = Statistic::Gram { entries: gram_entries(&domain, true, true), layout: Layout::Upper };
    let scales = vec![scale; statistic.entries().len()];
    let (name, noise) = (format!("party{party}"), (Family::Laplace, scales));
    let mut release = published(&name, &domain, (statistic, RECORDS), gram.as_flattened(), noise);
    release.value.iter_mut().for_each(|value| *value += scale * laplace(rng));
    release.privacy = PrivacyLoss { delta: 0.0, norm: Norm::L1, sensitivity: SENSITIVITY, ..release.privacy };
    release
}

/// Ranks over all replicates of a cell.
fn ranks(parties: usize, epsilon: f64, radius: Option<f64>, cell: u64) -> Ranks {
    let replicate = |number: u64| {
        let mut rng = ChaCha8Rng::seed_from_u64(1_000_000 * cell + number);
        let truth = truth(&mut rng);
        let scale = SENSITIVITY / epsilon;
        let releases: Vec<Release> =
            (0..parties).map(|party| release(party, &truth, radius, scale, &mut rng)).collect();
        let spec = MethodSpec { method: Some(Method::Individual), sampler: None };
        let plan = Plan { chains: 1, warmup: 250, draws: DRAWS, thin: 2, seed: number, threads: 1 };
        let fitted = fit(&spec, &ModelSpec::default(), &releases, &plan, &Monitor::default()).unwrap();
        let columns: Vec<Vec<f64>> =
            NAMES.iter().map(|name| fitted.draws.parameter(name).unwrap().concat()).collect();
        let mut ranks = Ranks::new(&NAMES, DRAWS);
        ranks.add(&[truth.theta[0], truth.theta[1], truth.variance.sqrt()], |place| &columns[place]);
        ranks
    };
    (0..REPLICATES).into_par_iter().map(replicate).reduce(|| Ranks::new(&NAMES, DRAWS), Ranks::join)
}

#[test]
fn ranks_are_uniform_for_twenty_cut_records_with_laplace_noise() {
    let cells = [(1, 10.0, None), (2, 10.0, Some(1.1))];
    let mut found = Vec::new();
    for (cell, (parties, epsilon, radius)) in cells.into_iter().enumerate() {
        for (name, p_value) in ranks(parties, epsilon, radius, cell as u64).p_values() {
            println!("J {parties}, epsilon {epsilon}, radius {radius:?}, {name}: p = {p_value:.2e}");
            found.push((parties, epsilon, name, p_value));
        }
    }
    let bound = ALPHA / found.len() as f64;
    let bad: Vec<_> = found.iter().filter(|cell| cell.3.is_nan() || cell.3 < bound).collect();
    assert!(bad.is_empty(), "ranks are not uniform: {bad:?}");
}
