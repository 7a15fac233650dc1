//! Fits of committed releases, against the draws that they gave when the releases were made.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use organza_infer::{Fit, InferError, MethodSpec, ModelSpec, fit};
use organza_mcmc::{Monitor, Plan};
use organza_release::{CountRelease, Document, Kind, RandomisedRelease, Release, kind_of};

const DRAWS: &str = include_str!("golden/draws.csv");
const PLAN: Plan = Plan { chains: 2, warmup: 60, draws: 60, thin: 2, seed: 5, threads: 1 };

/// A fit of a file of releases, whatever their kind.
fn run(file: &str, [model, method, sampler]: [&str; 3]) -> Result<Fit, InferError> {
    let path = format!("{}/tests/golden/{file}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path).unwrap();
    let method = (!method.is_empty()).then(|| method.parse().unwrap());
    let spec = MethodSpec { method, sampler: Some(sampler.parse().unwrap()) };
    let model = ModelSpec { model: Some(model.parse().unwrap()), ..ModelSpec::default() };
    let monitor = Monitor::default();
    match kind_of(&bytes).unwrap() {
        Kind::Sums => fit(&spec, &model, &Release::read_many(&bytes, &path).unwrap(), &PLAN, &monitor),
        Kind::Counts => fit(&spec, &model, &CountRelease::read_many(&bytes, &path).unwrap(), &PLAN, &monitor),
        Kind::Randomised => {
            fit(&spec, &model, &RandomisedRelease::read_many(&bytes, &path).unwrap(), &PLAN, &monitor)
        }
    }
}

/// Catches any change of what is drawn. Machines round differently, and chains of 180 steps carry that along.
#[test]
fn committed_releases_give_the_draws_that_they_gave() {
    let rows: Vec<Vec<&str>> = DRAWS.lines().skip(1).map(|line| line.split(';').collect()).collect();
    let mut fits = 0;
    for group in rows.chunk_by(|one, other| one[..4] == other[..4]) {
        let found = run(group[0][0], [group[0][1], group[0][2], group[0][3]]).unwrap();
        assert_eq!(found.summary.parameters.len(), group.len());
        for (row, golden) in found.summary.parameters.iter().zip(group) {
            assert_eq!(row.name, golden[4]);
            for (value, golden) in [row.mean, row.sd].into_iter().zip(&golden[5..]) {
                let golden: f64 = golden.parse().unwrap();
                assert!((value - golden).abs() <= 1e-6 * golden.abs(), "{group:?}: {value}");
            }
        }
        fits += 1;
    }
    assert_eq!(fits, 15);
}
