//! Questions and step sizes of a plan: the arithmetic behind the table in [`plan`](super::plan).

use organza_release::loss::gaussian_mu;

use super::guess::Guess;
use super::kernels::{DpHmc, DpPenalty, DpSgld, DpSgnht, Langevin, Preconditioner, Start, Walk};
use super::pilot::Pilot;
use super::plan::ChainKernel;
use super::queries::{Allowance, Budget, COUNT_WEIGHT, GradientQuery, RatioQuery, StepQueries};
use super::request::ChainRequest;
use super::words::ChainMethod;
use crate::CuratorError;

/// Standard deviation of the noise of a log ratio that a proposal may have.
const RATIO_SD: f64 = 1.3;
/// Standard deviation of the noise that a trajectory may add to the kinetic energy.
const ENERGY_SD: f64 = 1.5;
/// How far chains scatter around a public guess.
const START_SD: f64 = 0.1;
/// So few records are never sampled, nor are they if more than a quarter would be: a sum over all has a simpler loss.
const ALL_RECORDS: f64 = 20_000.0;
/// Leapfrog steps of a proposal unless others are asked for.
const LEAPFROG_STEPS: usize = 5;

/// The questions of a step, with noises in the right proportion to each other.
pub(super) fn template(request: &ChainRequest, guess: &Guess, rate: f64) -> StepQueries {
    let tuning = &request.tuning;
    let gradient = |times: u32, noise: f64, rate: f64| {
        Some(GradientQuery { times, clip: tuning.gradient_clip.unwrap_or(guess.clip), noise, rate })
    };
    let ratio = Some(RatioQuery { clip: tuning.ratio_clip.unwrap_or(guess.clip), noise: 1.0 });
    let (gradient, ratio) = match request.method {
        ChainMethod::DpHmc => {
            let times = tuning.leapfrog_steps.unwrap_or(LEAPFROG_STEPS) as u32 + 1;
            (gradient(times, f64::from(times).sqrt(), 1.0), ratio)
        }
        ChainMethod::DpPenalty => (None, ratio),
        ChainMethod::DpSgld | ChainMethod::DpSgnht => (gradient(1, 1.0, tuning.rate.unwrap_or(rate)), None),
    };
    StepQueries { gradient, ratio, count_weight: COUNT_WEIGHT, dimension: guess.dimension }
}

/// The rate at which sampling records adds a tenth of the noise of the step that privacy and curvature allow.
pub(super) fn usual_rate(request: &ChainRequest, guess: &Guess, steps: u64) -> Result<f64, CuratorError> {
    let Budget { epsilon, delta, .. } = request.budget;
    let clip = request.tuning.gradient_clip.unwrap_or(guess.clip);
    let variance = request.tuning.langevin.unwrap_or_default().variance(1.0);
    let noise = 2.0 * clip * (steps as f64).sqrt() / gaussian_mu(epsilon, delta)?;
    let step = (variance / (noise * noise)).min(guess.langevin_curvature());
    let rate = 1.0 / (1.0 + 0.1 * variance / (step * guess.records * guess.information));
    Ok(if rate > 0.25 || guess.records <= ALL_RECORDS { 1.0 } else { rate })
}

/// What step sizes follow from.
pub(super) struct Shape<'a> {
    pub(super) request: &'a ChainRequest,
    pub(super) guess: &'a Guess,
    pub(super) queries: StepQueries,
}

impl Shape<'_> {
    pub(super) fn usual_pilot_steps(&self) -> usize {
        if self.request.method.is_exact() { 100 + 20 * self.guess.dimension } else { 0 }
    }

    pub(super) fn pilot(&self, steps: u64, budget: Budget) -> Result<Pilot, CuratorError> {
        let clip = self.request.tuning.gradient_clip.unwrap_or(self.guess.clip);
        let gradient = Some(GradientQuery { times: 1, clip, noise: 1.0, rate: 1.0 });
        // Nobody looks at the clipped records of the way to the start.
        let queries =
            StepQueries { gradient, ratio: None, count_weight: 0.0, dimension: self.guess.dimension };
        let queries = queries.with_noise_for(steps, &budget)?;
        let step_size = self.guess.stable_sd().powi(2);
        Ok(Pilot { allowance: Allowance::of(queries, steps, budget)?, step_size })
    }

    /// Around a public guess, or around the pilot's end, whose error is guessed.
    pub(super) fn start(&self, pilot: Option<&Pilot>) -> Start {
        let error = pilot.map(|pilot| {
            let noise = pilot.allowance.queries().gradient.map_or(0.0, |query| query.noise * query.clip);
            let curvature = self.guess.records * self.guess.information;
            noise * (2.0 / pilot.allowance.steps() as f64).sqrt() / curvature
        });
        let sd = error.map_or(START_SD, |error| error.min(START_SD));
        Start { centre: self.guess.centre.clone(), sd: vec![sd; self.guess.dimension] }
    }

    pub(super) fn kernel(&self, start: Start) -> ChainKernel {
        let (tuning, preconditioner) = (&self.request.tuning, Preconditioner::Identity);
        let step_size = |usual: f64| tuning.step_size.unwrap_or(usual);
        match self.request.method {
            ChainMethod::DpHmc => {
                let leapfrog_steps = tuning.leapfrog_steps.unwrap_or(LEAPFROG_STEPS);
                let step_size = step_size(self.hmc_step(leapfrog_steps as f64));
                ChainKernel::Hmc(DpHmc { start, step_size, leapfrog_steps, shortest: 0.5, preconditioner })
            }
            ChainMethod::DpPenalty => {
                let walk = tuning.walk.unwrap_or_default();
                let step_size = step_size(self.penalty_step(walk));
                ChainKernel::Penalty(DpPenalty { start, step_size, walk, preconditioner })
            }
            ChainMethod::DpSgld => {
                let noise = tuning.langevin.unwrap_or_default();
                ChainKernel::Sgld(DpSgld { start, step_size: step_size(self.langevin_step(noise)), noise })
            }
            ChainMethod::DpSgnht => {
                let noise = self.gradient_noise();
                let stable = self.guess.stable_sd();
                let usual = (0.2 * self.guess.posterior_sd).min(0.5 / noise).min(0.5 * stable);
                let h = step_size(usual);
                // Explicit steps need friction against the stiffest direction.
                let least = (h / (stable * stable)).max(1.0 / self.guess.posterior_sd);
                let friction = (0.5 * h * noise * noise).max(least);
                let friction = tuning.friction.unwrap_or(friction);
                ChainKernel::Sgnht(DpSgnht { start, step_size: h, friction })
            }
        }
    }

    /// Standard deviation of the noise of a gradient's coordinate.
    fn gradient_noise(&self) -> f64 {
        self.queries.gradient.map_or(0.0, |query| query.noise * query.clip / query.rate)
    }

    /// The distance at which the noise of a log ratio has the standard deviation that it may have.
    fn ratio_reach(&self) -> f64 {
        self.queries.ratio.map_or(f64::INFINITY, |query| RATIO_SD / (query.noise * query.clip))
    }

    fn hmc_step(&self, leaps: f64) -> f64 {
        let by_ratio = self.ratio_reach() / (leaps * (self.guess.dimension as f64).sqrt());
        let by_energy = ENERGY_SD / (self.gradient_noise() * (leaps * self.guess.dimension as f64).sqrt());
        by_ratio.min(by_energy).min(0.5 * self.guess.posterior_sd).min(1.5 * self.guess.stable_sd())
    }

    fn penalty_step(&self, walk: Walk) -> f64 {
        let moved = if walk == Walk::All { self.guess.dimension as f64 } else { 1.0 };
        self.ratio_reach().min(2.4 * self.guess.posterior_sd) / moved.sqrt()
    }

    fn langevin_step(&self, form: Langevin) -> f64 {
        let rate = self.queries.gradient.map_or(1.0, |query| query.rate);
        let by_privacy = form.variance(1.0) / self.gradient_noise().powi(2);
        let sampling = self.guess.records * self.guess.information * (1.0 - rate) / rate;
        let by_sampling = if sampling > 0.0 { 0.1 * form.variance(1.0) / sampling } else { f64::INFINITY };
        by_privacy.min(by_sampling).min(self.guess.langevin_curvature())
    }
}
