//! From a budget to steps, noise and step sizes. No data.
//!
//! **Shares.** With an acceptance test a fifth of mu^2 pays for the [`Pilot`], the rest for the chains; of each step of dp-hmc half goes to the
//! ratio and half to the L + 1 gradients. Every step costs the same, warm-up included.
//!
//! **Steps of each chain.** dp-hmc 250 with L = 5, dp-penalty 1,000, dp-sgld and dp-sgnht 2,000; a fifth of them is warm-up. Where noise is
//! the limit, effective draws hardly depend on the number of steps: twice the steps have half the squared length. dp-sgld and dp-sgnht
//! sample records at the rate that adds a tenth to the noise of a step, and take all records if that is above a quarter or there are few.
//!
//! **Step sizes**, with s the guessed posterior standard deviation ([`Guess`]) and s_g that of the noise of a gradient:
//!
//! | method | the smallest of |
//! | --- | --- |
//! | dp-hmc | noise of the ratio 1.3 at the distance of L free steps; noise of the kinetic energy s_g eta sqrt(L d) = 1.5; 0.5 s; 1.5 standard deviations of the stiffest direction |
//! | dp-penalty | noise of the ratio 1.3 at the typical distance; 2.4 s / sqrt(d), or 2.4 s along one component |
//! | dp-sgld | the step whose noise is all from privacy, c / s_g^2 with c = 2 (right) or 1 (published); s^2 / 10; a tenth of the noise from sampling records; the stiffest direction |
//! | dp-sgnht | s / 5; 0.5 / s_g; half a standard deviation of the stiffest direction; friction h s_g^2 / 2, at least 1 / s and enough for explicit steps in the stiffest direction |

use organza_mcmc::Plan;
use organza_release::loss::{
    Composition, Mechanism, RELATIVE_ACCURACY, gaussian_epsilon, gaussian_mu, lattice_delta,
};

use super::guess::Guess;
use super::kernels::{DpHmc, DpPenalty, DpSgld, DpSgnht};
use super::load::ChainDesign;
use super::pilot::Pilot;
use super::queries::{Allowance, Budget};
use super::request::ChainRequest;
use super::shape::{Shape, template, usual_rate};
use super::words::{ChainMethod, ChainModel};
use crate::CuratorError;
use crate::ledger::Charge;

/// Part of mu^2 that the way to the start gets.
const PILOT_SHARE: f64 = 0.2;

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
        let Budget { epsilon, delta, .. } = request.budget;
        // The lattice of the noise takes its part of delta, which is known once there is a plan.
        let mut lattice = 0.0;
        while lattice < 0.25 * delta {
            let plan =
                Self::within(design, request, Budget { delta: delta - 2.0 * lattice, ..request.budget })?;
            let charge = plan.charge("")?;
            let spent = Composition::of([charge.mechanism])?.delta(epsilon * (1.0 + RELATIVE_ACCURACY))?;
            let needed = lattice_delta(epsilon, charge.total_variation);
            if spent + needed <= delta * (1.0 + 1e-9) {
                return Ok(plan);
            }
            lattice = needed.max(2.0 * lattice);
        }
        let reason = "is so large that the lattice of the noise would show; beyond about 20 nobody is protected anyway";
        Err(CuratorError::setting("epsilon", reason))
    }

    fn within(design: &ChainDesign, request: &ChainRequest, total: Budget) -> Result<Self, CuratorError> {
        let guess = Guess::new(design, request.records);
        let run = run_plan(request)?;
        // What cannot be run is refused before it is charged.
        run.check(guess.dimension)?;
        let steps = (run.chains as u64) * (run.warmup + run.draws) as u64;
        let rate = usual_rate(request, &guess, steps)?;
        let mut shape = Shape { request, guess: &guess, queries: template(request, &guess, rate) };
        let pilot_steps = request.tuning.pilot_steps.unwrap_or_else(|| shape.usual_pilot_steps());
        let share = if pilot_steps > 0 { PILOT_SHARE } else { 0.0 };
        let budget = part(&total, 1.0 - share)?;
        shape.queries = shape.queries.with_noise_for(steps, &budget)?;
        let pilot = match pilot_steps {
            0 => None,
            steps => Some(shape.pilot(steps as u64, part(&total, share)?)?),
        };
        let start = shape.start(pilot.as_ref());
        let kernel = shape.kernel(start);
        let allowance = Allowance::of(shape.queries, steps, budget)?;
        Ok(Self { request: request.clone(), model: design.model(), guess, pilot, allowance, kernel, run })
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
        Ok(Charge {
            mechanism,
            total_variation,
            neighbours: Some(neighbours),
            claimed_epsilon: epsilon,
            claimed_delta: delta,
            description,
        })
    }
}

/// A part of a budget, as a part of mu^2.
fn part(budget: &Budget, share: f64) -> Result<Budget, CuratorError> {
    if share == 1.0 {
        return Ok(*budget);
    }
    // A hair less than all: two parts round up their noise and take their parts of delta for the lattice.
    let mu = gaussian_mu(budget.epsilon, budget.delta)? * share.sqrt() * (1.0 - 1e-9);
    Ok(Budget { epsilon: gaussian_epsilon(budget.delta, mu)?, ..*budget })
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
        return Err(CuratorError::setting("chains", "must be at least 1"));
    }
    match steps.checked_sub(warmup) {
        None | Some(0) => Err(CuratorError::setting(
            "steps",
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
