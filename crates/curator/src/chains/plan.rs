//! From a budget to steps, noise and step sizes. No data.
//!
//! **Shares.** With an acceptance test a fifth of mu^2 pays for the [`Pilot`], the rest for the chains; of each step of dp-hmc half goes to the
//! ratio and half to the L + 1 gradients. Every step costs the same, warm-up included.
//!
//! **Steps of each chain.** dp-hmc 250 with L = 3, dp-penalty 1,000, dp-sgld and dp-sgnht 2,000; a fifth of them is warm-up. Where noise is
//! the limit, effective draws hardly depend on the number of steps: twice the steps have half the squared length.
//!
//! **Step sizes**, with s the guessed posterior standard deviation ([`Guess`]) and s_g that of the noise of a gradient:
//!
//! | method | the smallest of |
//! | --- | --- |
//! | dp-hmc | noise of the ratio 1.3 at the distance of L free steps; noise of the momentum s_g eta sqrt(L) = 0.5; 0.5 s; 1.5 standard deviations of the stiffest direction |
//! | dp-penalty | noise of the ratio 1.3 at the typical distance; 2.4 s / sqrt(d), or 2.4 s along one component |
//! | dp-sgld | the step whose noise is all from privacy, c / s_g^2 with c = 2 (right) or 1 (published); s^2 / 10; a tenth of the noise from sampling records; the stiffest direction |
//! | dp-sgnht | s / 10; 0.5 / s_g; friction h s_g^2 / 2, at least 1 / s |

use organza_mcmc::Plan;
use organza_release::loss::{
    Composition, Mechanism, RELATIVE_ACCURACY, gaussian_epsilon, gaussian_mu, lattice_delta,
};

use super::guess::Guess;
use super::kernels::{DpHmc, DpPenalty, DpSgld, DpSgnht, Langevin, Preconditioner, Start, Walk};
use super::load::ChainDesign;
use super::pilot::Pilot;
use super::queries::{Allowance, Budget, COUNT_WEIGHT, GradientQuery, RatioQuery, StepQueries};
use super::request::ChainRequest;
use super::words::{ChainMethod, ChainModel};
use crate::CuratorError;
use crate::ledger::Charge;

/// Part of mu^2 that the way to the start gets.
const PILOT_SHARE: f64 = 0.2;
/// Standard deviation of the noise of a log ratio that a proposal may have.
const RATIO_SD: f64 = 1.3;
/// Standard deviation of the noise that a trajectory may add to a momentum.
const MOMENTUM_SD: f64 = 0.5;
/// Records in the sample of a step.
const SAMPLE: f64 = 20_000.0;
/// How far chains scatter around a public guess.
const START_SD: f64 = 0.1;

/// A kernel with its settings.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ChainKernel {
    /// dp-hmc
    Hmc(DpHmc),
    /// dp-penalty
    Penalty(DpPenalty),
    /// dp-sgld
    Sgld(DpSgld),
    /// dp-sgnht
    Sgnht(DpSgnht),
}

/// Everything about private chains that is known before any data is read.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainPlan {
    /// What was asked.
    pub request: ChainRequest,
    /// The model.
    pub model: ChainModel,
    /// The guesses behind the defaults.
    pub guess: Guess,
    /// The way to the start, if there is one.
    pub pilot: Option<Pilot>,
    /// What the steps of all chains ask and may cost.
    pub allowance: Allowance,
    /// The kernel.
    pub kernel: ChainKernel,
    /// Chains, warm-up, draws.
    pub run: Plan,
}

impl ChainPlan {
    /// Plans chains within a budget.
    pub fn new(design: &ChainDesign, request: &ChainRequest) -> Result<Self, CuratorError> {
        request.tuning.check(request.method)?;
        let guess = Guess::new(design, request.records);
        let run = run_plan(request)?;
        let steps = (run.chains as u64) * (run.warmup + run.draws) as u64;
        let mut shape = Shape { request, guess: &guess, queries: template(request, &guess) };
        let pilot_steps = request.tuning.pilot_steps.unwrap_or_else(|| shape.usual_pilot_steps());
        let share = if pilot_steps > 0 { PILOT_SHARE } else { 0.0 };
        let budget = part(&request.budget, 1.0 - share)?;
        shape.queries = shape.queries.with_noise_for(steps, &budget)?;
        let pilot = match pilot_steps {
            0 => None,
            steps => Some(shape.pilot(steps as u64, part(&request.budget, share)?)?),
        };
        let start = shape.start(pilot.as_ref());
        let kernel = shape.kernel(start);
        let allowance = Allowance::of(shape.queries, steps, budget)?;
        let plan =
            Self { request: request.clone(), model: design.model(), guess, pilot, allowance, kernel, run };
        plan.check()?;
        Ok(plan)
    }

    /// What the ledger is charged: the way to the start, all chains and their warm-up.
    pub fn charge(&self, description: impl Into<String>) -> Result<Charge, CuratorError> {
        let Budget { epsilon, delta, neighbours } = self.request.budget;
        let parts = || self.pilot.iter().map(|pilot| &pilot.allowance).chain([&self.allowance]);
        let (mechanism, total_variation) = if self.allowance.queries().is_subsampled() {
            // The lattice is in the accountant's delta already.
            (Mechanism::Approximate { epsilon, delta }, 0.0)
        } else {
            let (mut mu_squared, mut variation) = (0.0, 0.0);
            for part in parts() {
                mu_squared += part.queries().gaussian(part.steps(), neighbours)?.mu().powi(2);
                variation += part.steps() as f64 * part.queries().lattice_variation()?;
            }
            (Mechanism::Gaussian { mu: f64::sqrt(mu_squared) }, variation)
        };
        let description = description.into();
        Ok(Charge { mechanism, total_variation, claimed_epsilon: epsilon, claimed_delta: delta, description })
    }

    /// All parts together, the lattice of the noise included, stay within the budget.
    fn check(&self) -> Result<(), CuratorError> {
        let Budget { epsilon, delta, .. } = self.request.budget;
        let charge = self.charge("")?;
        let spent = Composition::of([charge.mechanism])?.delta(epsilon * (1.0 + RELATIVE_ACCURACY))?;
        if spent + lattice_delta(epsilon, charge.total_variation) <= delta * (1.0 + 1e-9) {
            return Ok(());
        }
        Err(CuratorError::option(
            "--epsilon",
            "the steps cost more than the budget: plan fewer, or a smaller epsilon",
        ))
    }
}

/// A part of a budget, as a part of mu^2.
fn part(budget: &Budget, share: f64) -> Result<Budget, CuratorError> {
    if share == 1.0 {
        return Ok(*budget);
    }
    // A hair less than all: two parts round up their noise and take their parts of delta for the lattice.
    let mu = gaussian_mu(budget.epsilon, budget.delta)? * share.sqrt() * (1.0 - 1e-9);
    Ok(Budget { epsilon: gaussian_epsilon(mu, budget.delta)?, ..*budget })
}

fn run_plan(request: &ChainRequest) -> Result<Plan, CuratorError> {
    let usual = match request.method {
        ChainMethod::DpHmc => 250,
        ChainMethod::DpPenalty => 1_000,
        ChainMethod::DpSgld | ChainMethod::DpSgnht => 2_000,
    };
    let steps = request.tuning.steps.unwrap_or(usual);
    let warmup = request.tuning.warmup.unwrap_or(steps / 5);
    if request.chains == 0 {
        return Err(CuratorError::option("--chains", "must be at least 1"));
    }
    match steps.checked_sub(warmup) {
        None | Some(0) => Err(CuratorError::option(
            "--steps",
            format!("{steps} leave no draw after {warmup} steps of warm-up"),
        )),
        Some(draws) => Ok(Plan {
            chains: request.chains,
            warmup,
            draws,
            thin: 1,
            seed: request.seed,
            threads: request.threads,
        }),
    }
}

/// The questions of a step, with noises in the right proportion to each other.
fn template(request: &ChainRequest, guess: &Guess) -> StepQueries {
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
        ChainMethod::DpSgld | ChainMethod::DpSgnht => {
            let rate = tuning.rate.unwrap_or_else(|| (SAMPLE / guess.records).min(1.0));
            (gradient(1, 1.0, rate), None)
        }
    };
    StepQueries { gradient, ratio, count_weight: COUNT_WEIGHT, dimension: guess.dimension }
}

/// Leapfrog steps of a proposal unless others are asked for.
const LEAPFROG_STEPS: usize = 3;

/// What step sizes follow from.
struct Shape<'a> {
    request: &'a ChainRequest,
    guess: &'a Guess,
    queries: StepQueries,
}

impl Shape<'_> {
    fn usual_pilot_steps(&self) -> usize {
        if self.request.method.is_exact() { 100 + 20 * self.guess.dimension } else { 0 }
    }

    fn pilot(&self, steps: u64, budget: Budget) -> Result<Pilot, CuratorError> {
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
    fn start(&self, pilot: Option<&Pilot>) -> Start {
        let error = pilot.map(|pilot| {
            let noise = pilot.allowance.queries().gradient.map_or(0.0, |query| query.noise * query.clip);
            let curvature = self.guess.records * self.guess.information;
            noise * (2.0 / pilot.allowance.steps() as f64).sqrt() / curvature
        });
        let sd = error.map_or(START_SD, |error| error.min(START_SD));
        Start { centre: self.guess.centre.clone(), sd: vec![sd; self.guess.dimension] }
    }

    fn kernel(&self, start: Start) -> ChainKernel {
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
                let h = step_size((0.1 * self.guess.posterior_sd).min(0.5 / noise));
                let friction = (0.5 * h * noise * noise).max(1.0 / self.guess.posterior_sd);
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
        let by_momentum = MOMENTUM_SD / (self.gradient_noise() * leaps.sqrt());
        by_ratio.min(by_momentum).min(0.5 * self.guess.posterior_sd).min(1.5 * self.guess.stable_sd())
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
        let by_curvature = (0.1 * self.guess.posterior_sd.powi(2)).min(self.guess.stable_sd().powi(2));
        by_privacy.min(by_sampling).min(by_curvature)
    }
}
