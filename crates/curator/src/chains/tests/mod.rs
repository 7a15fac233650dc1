//! Tests of private chains: the passes, the payments, and the laws of the chains.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod fused;
mod invariance;
mod langevin;
mod laws;
mod passes;
mod payments;
mod randomness;

use organza_mcmc::ChainRng;

use super::*;

/// Steps without end, for rehearsals.
const MANY: u64 = u64::MAX / 2;

fn gradient(times: u32, clip: f64, noise: f64) -> Option<GradientQuery> {
    Some(GradientQuery { times, clip, noise, rate: 1.0 })
}

fn ratio(clip: f64, noise: f64) -> Option<RatioQuery> {
    Some(RatioQuery { clip, noise })
}

fn gaussian_pair() -> models::GaussianMean {
    models::GaussianMean::new(&[1.0, 0.6, 0.6, 2.0], 100.0).unwrap()
}

/// An oracle of made-up records; all of them the same for the same arguments.
fn rehearse<M: Simulate>(model: M, theta: &[f64], rows: usize, queries: StepQueries) -> PrivateOracle<M> {
    PrivateOracle::rehearsal(model, theta, rows, (queries, MANY), &mut ChainRng::new(11, 0)).unwrap()
}
