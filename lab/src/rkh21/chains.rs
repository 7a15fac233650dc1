//! The four chains with the paper's settings, and what is measured of them.
//!
//! Parameters are those of the authors' code. Its tau is the paper's over sqrt(n), so noise over the clip bound is 2 tau sqrt(n).

use std::sync::OnceLock;

use organza_curator::chains::kernels::{
    ChainInfo, DpHmc, DpPenalty, DpSgld, DpSgnht, Langevin, Preconditioner, Start, Walk,
};
use organza_curator::chains::models::Banana;
use organza_curator::chains::{
    Budget, GradientQuery, PrivateOracle, RatioQuery, Simulate, StepQueries, mean_statistic,
};
use organza_mcmc::{ChainRng, Draws, Kernel, Plan, run};
use organza_release::Neighbours;

use super::problem::{Data, Exact, ExactBanana, ExactGauss, Problem, RECORDS, gaussian, oracle, reference};
use crate::metrics::{Sample, Width, mmd};
use crate::reproduce::Variant;
use organza_studies::generator;

pub(super) const CHAINS: usize = 4;
/// Draws that are kept of each chain.
const KEPT: u64 = 2500;

/// The algorithms, in the order of the figures.
pub(super) const WORDS: [&str; 4] = ["dp-hmc", "dp-penalty", "dp-sgld", "dp-sgnht"];

/// What a chain is made of: how it is asked, how it moves, and how many steps it takes.
#[derive(Debug, Clone)]
pub(super) struct Setting {
    pub(super) queries: StepQueries,
    pub(super) motion: Motion,
    /// Of each chain.
    pub(super) steps: u64,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Motion {
    Hmc { step_size: f64, leapfrog_steps: usize, shortest: f64 },
    Walk { step_size: f64 },
    Langevin { step_size: f64, noise: Langevin },
    Thermostat { step_size: f64, friction: f64 },
}

fn noise(tau: f64) -> f64 {
    2.0 * tau * (RECORDS as f64).sqrt()
}

fn asked(problem: Problem, gradient: Option<GradientQuery>, ratio: Option<RatioQuery>) -> StepQueries {
    StepQueries { gradient, ratio, count_weight: 0.0, dimension: problem.dimension() }
}

/// tau, tau_g, leapfrog steps, step size, clip bounds of ratios and gradients.
fn hmc(problem: Problem, variant: Variant) -> (StepQueries, Motion) {
    let (tau, tau_g, leapfrog_steps, step_size, ratio_clip, clip) = match problem {
        Problem::Banana => (0.10, 0.55, 25, 0.006, 0.1, 0.05),
        Problem::Gauss => (0.10, 0.25, 12, 0.00015, 6.0, 10.0),
    };
    let gradient = GradientQuery { times: leapfrog_steps as u32 + 1, clip, noise: noise(tau_g), rate: 1.0 };
    let ratio = RatioQuery { clip: ratio_clip, noise: noise(tau) };
    let shortest = if variant == Variant::Ours { 0.2 } else { 0.0 };
    (asked(problem, Some(gradient), Some(ratio)), Motion::Hmc { step_size, leapfrog_steps, shortest })
}

fn walk(problem: Problem) -> (StepQueries, Motion) {
    let (tau, step_size, clip) = match problem {
        Problem::Banana => (0.17, 0.06, 0.15),
        Problem::Gauss => (0.05, 0.0007, 10.0),
    };
    (asked(problem, None, Some(RatioQuery { clip, noise: noise(tau) })), Motion::Walk { step_size })
}

/// The noise of the step is the noise of privacy: variance v of a step e (or h) along the gradient of a sample of 1,000.
fn sampled(problem: Problem, clip: f64, step: f64, variance: f64) -> StepQueries {
    let rate = 1000.0 / RECORDS as f64;
    let gradient = GradientQuery { times: 1, clip, noise: rate * variance.sqrt() / (step * clip), rate };
    asked(problem, Some(gradient), None)
}

fn langevin(problem: Problem, variant: Variant) -> (StepQueries, Motion) {
    let (clip, eta) = match problem {
        Problem::Banana => (0.2, 1.0),
        Problem::Gauss => (15.0, 0.008),
    };
    let (step_size, form) =
        (eta / RECORDS as f64, if variant == Variant::Ours { Langevin::Right } else { Langevin::Published });
    let queries = sampled(problem, clip, step_size, form.variance(step_size));
    (queries, Motion::Langevin { step_size, noise: form })
}

fn thermostat(problem: Problem) -> (StepQueries, Motion) {
    let (clip, eta, friction) = match problem {
        Problem::Banana => (0.2, 100.0, 50.0),
        Problem::Gauss => (12.0, 0.2, 30.0),
    };
    let step_size = eta / RECORDS as f64;
    (
        sampled(problem, clip, step_size, 2.0 * friction * step_size),
        Motion::Thermostat { step_size, friction },
    )
}

/// The setting of an algorithm at a budget.
pub(super) fn setting(
    problem: Problem,
    algorithm: usize,
    epsilon: f64,
    variant: Variant,
) -> Result<Setting, String> {
    let (queries, motion) = match algorithm {
        0 => hmc(problem, variant),
        1 => walk(problem),
        2 => langevin(problem, variant),
        _ => thermostat(problem),
    };
    let mut charged = queries;
    if variant == Variant::Published {
        // The authors' accountant of sampled chains was given the noise over 2C instead of C.
        charged.gradient = charged.gradient.map(|query| {
            let overcharge = if query.rate < 1.0 { 0.5 } else { 1.0 };
            GradientQuery { noise: overcharge * query.noise, ..query }
        });
    }
    let budget = Budget { epsilon, delta: 0.1 / RECORDS as f64, neighbours: Neighbours::Substitute };
    let steps = charged.steps_within(&budget).map_err(|error| error.to_string())? / CHAINS as u64;
    Ok(Setting { queries, motion, steps })
}

/// A setting that is computed when it is first needed: the accountant of sampled chains takes seconds.
pub(super) type Lazy = OnceLock<Result<Setting, String>>;

/// What is measured of four chains, the second half of each.
pub(super) struct Measured {
    pub(super) mmd: f64,
    /// Distance of the mean of the chains from the mean of the exact draws.
    pub(super) mean_error: f64,
    pub(super) acceptance: f64,
    pub(super) clipped_ratios: f64,
    pub(super) draws: Sample,
    pub(super) exact: Sample,
}

/// The tail of the banana: theta_2 below this.
pub(super) const TAIL: f64 = 1.0;

impl Measured {
    /// Shares of the chains and of the exact draws in the tail of the banana.
    pub(super) fn tails(&self) -> [f64; 2] {
        [&self.draws, &self.exact].map(|sample| {
            let values = sample.coordinate(1);
            values.iter().filter(|value| **value < TAIL).count() as f64 / values.len() as f64
        })
    }
}

/// Runs four chains on the authors' records and compares them with exact draws.
pub(super) fn measure(problem: Problem, setting: &Setting, seed: u64) -> Result<Measured, String> {
    measure_on(problem, setting, (Data::Authors, seed))
}

/// The same on any records.
pub(super) fn measure_on(
    problem: Problem,
    setting: &Setting,
    (data, seed): (Data, u64),
) -> Result<Measured, String> {
    let total = setting.steps * CHAINS as u64;
    match problem {
        Problem::Banana => {
            let oracle = oracle(Banana::default(), (problem, data), setting.queries, total)?;
            compare(problem, &oracle, &ExactBanana::new(&oracle), setting, seed)
        }
        Problem::Gauss => {
            let oracle = oracle(gaussian()?, (problem, data), setting.queries, total)?;
            compare(problem, &oracle, &ExactGauss::new(&oracle)?, setting, seed)
        }
    }
}

fn compare<M: Simulate>(
    problem: Problem,
    oracle: &PrivateOracle<M>,
    exact: &dyn Exact,
    setting: &Setting,
    seed: u64,
) -> Result<Measured, String> {
    let (sample, start) = reference(problem, exact, &mut ChainRng::new(seed, 1 << 20));
    let found = move_chains(oracle, setting, start, seed)?;
    let draws = Sample::new(problem.dimension(), found.values().to_vec());
    Ok(Measured {
        mmd: mmd(&draws, &sample, Width::MedianOfCrossPairs(500), &mut generator(seed, 9)),
        mean_error: distance(&draws.mean(), &sample.mean()),
        acceptance: mean_statistic(&found, ChainInfo::ACCEPTANCE),
        clipped_ratios: mean_statistic(&found, ChainInfo::CLIPPED_RATIOS),
        draws,
        exact: sample,
    })
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

fn move_chains<M: Simulate>(
    oracle: &PrivateOracle<M>,
    setting: &Setting,
    start: Start,
    seed: u64,
) -> Result<Draws, String> {
    let warmup = setting.steps / 2;
    let thin = ((setting.steps - warmup) / KEPT).max(1);
    let draws = ((setting.steps - warmup) / thin) as usize;
    let plan = Plan { chains: CHAINS, warmup: warmup as usize, draws, thin: thin as usize, seed, threads: 1 };
    let preconditioner = Preconditioner::Identity;
    match setting.motion {
        Motion::Hmc { step_size, leapfrog_steps, shortest } => {
            finish(oracle, &DpHmc { start, step_size, leapfrog_steps, shortest, preconditioner }, &plan)
        }
        Motion::Walk { step_size } => {
            finish(oracle, &DpPenalty { start, step_size, walk: Walk::All, preconditioner }, &plan)
        }
        Motion::Langevin { step_size, noise } => finish(oracle, &DpSgld { start, step_size, noise }, &plan),
        Motion::Thermostat { step_size, friction } => {
            finish(oracle, &DpSgnht { start, step_size, friction }, &plan)
        }
    }
}

fn finish<M: Simulate, K: Kernel<PrivateOracle<M>>>(
    oracle: &PrivateOracle<M>,
    kernel: &K,
    plan: &Plan,
) -> Result<Draws, String> {
    run(kernel, oracle, plan).map_err(|error| error.to_string())
}
