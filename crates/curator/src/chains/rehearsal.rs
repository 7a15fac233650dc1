//! Rehearsals: tuning on made-up records, at no privacy cost. Nothing here can name a table.
//!
//! Each data set draws parameters and records from the model ([`Simulate`]); each trial runs the planned chains on all data sets, with the
//! noise that the budget would buy, for a grid of step sizes, leapfrog steps and clip bounds around the plan's own.
//!
//! **Scale.** With more than [`MOST_RECORDS`] records n a rehearsal makes m = [`MOST_RECORDS`] of them. The posterior is then wider by
//! sqrt(n/m), so lengths grow by that much, a Langevin step by n/m, and noise over clip bounds shrinks by sqrt(m/n): all ratios
//! that decide about mixing stay as they are, as far as the posterior is normal.

use organza_mcmc::diagnostics::ess_bulk;
use organza_mcmc::{ChainRng, Draws, Monitor};
use serde::Serialize;

use super::guess::{Guess, mean_count};
use super::kernels::ChainInfo;
use super::load::ChainDesign;
use super::model::Simulate;
use super::models::{Linear, Logistic, Poisson};
use super::oracle::PrivateOracle;
use super::plan::{ChainKernel, ChainPlan};
use super::queries::StepQueries;
use super::request::ChainRequest;
use super::words::{ChainMethod, ChainModel};
use crate::CuratorError;

/// Records of a rehearsal, at most.
pub const MOST_RECORDS: u64 = 5_000;
/// Clipped records above this share bias a chain.
const MOST_CLIPPED: f64 = 0.2;

/// What to rehearse.
#[derive(Debug, Clone, Copy)]
pub struct Rehearsal<'a> {
    /// The regression.
    pub design: &'a ChainDesign,
    /// What is asked; choices by hand are kept, the others are tried.
    pub request: &'a ChainRequest,
    /// Number of data sets.
    pub data_sets: usize,
}

/// How one choice did, over all data sets.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Trial {
    /// Step size.
    pub step_size: f64,
    /// Leapfrog steps of a proposal.
    pub leapfrog_steps: Option<usize>,
    /// Clip bound of gradients.
    pub gradient_clip: Option<f64>,
    /// Clip bound of ratios.
    pub ratio_clip: Option<f64>,
    /// Mean over data sets of the least effective size of a parameter, all chains together.
    pub effective: f64,
    /// Root mean squared distance of the posterior mean from the truth, in guessed posterior standard deviations; about 1 is good.
    pub error: f64,
    /// Mean probability of acceptance.
    pub acceptance: f64,
    /// Share of clipped gradients, `NaN` without gradients.
    pub clipped_gradients: f64,
    /// Share of clipped ratios, `NaN` without ratios.
    pub clipped_ratios: f64,
}

/// Tries a grid of choices, the most promising first: most effective draws among those that clip little and are not far from the truth.
pub fn rehearse(rehearsal: &Rehearsal<'_>, monitor: &Monitor<'_>) -> Result<Vec<Trial>, CuratorError> {
    if rehearsal.data_sets == 0 {
        return Err(CuratorError::setting("data_sets", "must be at least 1"));
    }
    let mut trials = Vec::new();
    for plan in grid(rehearsal)? {
        trials.push(match rehearsal.trial(&plan, monitor) {
            // A chain that leaves the range of numbers has failed its trial, not the rehearsal.
            Err(CuratorError::Run(_)) => Trial { error: f64::INFINITY, ..Trial::of(&plan) },
            other => other?,
        });
    }
    let least = trials.iter().map(|trial| trial.error).fold(f64::INFINITY, f64::min);
    let promise = |trial: &Trial| {
        let clipped = trial.clipped_gradients.max(trial.clipped_ratios); // a NaN is left aside
        let unfair = clipped > MOST_CLIPPED || trial.error > 2.0 * least.max(1.0);
        if unfair { trial.effective - 1e9 } else { trial.effective }
    };
    trials.sort_by(|one, other| promise(other).total_cmp(&promise(one)));
    Ok(trials)
}

/// Plans with every choice of the grid that was not made by hand.
fn grid(rehearsal: &Rehearsal<'_>) -> Result<Vec<ChainPlan>, CuratorError> {
    let Rehearsal { design, request, .. } = rehearsal;
    let guess = Guess::new(design, request.records);
    let (hmc, has_ratio) = (request.method == ChainMethod::DpHmc, request.method.is_exact());
    let has_gradient = request.method != ChainMethod::DpPenalty;
    let leaps: &[usize] = if hmc && request.tuning.leapfrog_steps.is_none() { &[2, 4, 8] } else { &[0] };
    // The slope of a logistic regression is bounded: a smaller clip bound would only bias.
    let clips: &[f64] = if design.model() == ChainModel::Logistic { &[1.0] } else { &[0.7, 1.0, 1.4] };
    // Longer Langevin steps than planned have more noise than the dynamics, which no effective size would show.
    let sizes: &[f64] = match (request.tuning.step_size, request.method) {
        (Some(_), _) => &[1.0],
        (None, ChainMethod::DpSgld) => &[0.25, 0.5, 1.0],
        (None, _) => &[0.5, 1.0, 2.0],
    };
    let mut plans: Vec<ChainPlan> = Vec::new();
    for leap in leaps {
        for clip in clips {
            let mut tried = (*request).clone();
            if *leap > 0 {
                tried.tuning.leapfrog_steps = Some(*leap);
            }
            if has_gradient {
                tried.tuning.gradient_clip.get_or_insert(clip * guess.clip);
            }
            if has_ratio {
                tried.tuning.ratio_clip.get_or_insert(clip * guess.clip);
            }
            let usual = ChainPlan::new(design, &tried)?;
            for size in sizes {
                let mut plan = usual.clone();
                plan.kernel.lengthen(*size);
                plans.push(plan);
            }
        }
    }
    plans.dedup();
    Ok(plans)
}

impl Rehearsal<'_> {
    fn trial(&self, plan: &ChainPlan, monitor: &Monitor<'_>) -> Result<Trial, CuratorError> {
        match self.design.model() {
            ChainModel::Linear => self.try_model(&self.design.regression(Linear), plan, monitor),
            ChainModel::Logistic => self.try_model(&self.design.regression(Logistic), plan, monitor),
            ChainModel::Poisson => self.try_model(&self.design.regression(Poisson), plan, monitor),
        }
    }

    fn try_model<M: Simulate + Clone>(
        &self,
        model: &M,
        plan: &ChainPlan,
        monitor: &Monitor<'_>,
    ) -> Result<Trial, CuratorError> {
        let mut trial = Trial::of(plan);
        let scaled = Scaled::new(plan);
        for data_set in 0..self.data_sets {
            let (truth, draws) = self.run_once(model, &scaled, data_set as u32, monitor)?;
            trial.add(&draws, &truth, scaled.posterior_sd);
        }
        trial.divide(self.data_sets as f64);
        Ok(trial)
    }

    fn run_once<M: Simulate + Clone>(
        &self,
        model: &M,
        scaled: &Scaled,
        data_set: u32,
        monitor: &Monitor<'_>,
    ) -> Result<(Vec<f64>, Draws), CuratorError> {
        let Scaled { plan, rows, queries, pilot, .. } = scaled;
        let seed = plan.run.seed;
        let mut truth = vec![0.0; model.parameters().len()];
        model.draw_parameters(&mut ChainRng::new(seed, data_set).block(0), &mut truth);
        if self.design.model() == ChainModel::Poisson && self.design.domain().intercept {
            truth[0] += libm::log(mean_count(self.design));
        }
        let oracle = |asked: (StepQueries, u64)| {
            let mut records = ChainRng::new(seed, data_set).block(1);
            PrivateOracle::rehearsal(model.clone(), &truth, *rows, asked, &mut records)
        };
        let mut kernel = plan.kernel.clone();
        if let Some(pilot) = pilot {
            let mut noise = ChainRng::new(seed, data_set).block(2);
            kernel = kernel.with_pilot(plan, &oracle(*pilot)?, &mut noise)?;
        }
        let run = organza_mcmc::Plan { seed: seed.wrapping_add(1 + u64::from(data_set)), ..plan.run };
        let draws = kernel.run(&oracle(*queries)?, &run, monitor)?;
        Ok((truth, draws))
    }
}

/// A plan for fewer records, with everything in proportion.
struct Scaled {
    plan: ChainPlan,
    rows: usize,
    queries: (StepQueries, u64),
    pilot: Option<(StepQueries, u64)>,
    posterior_sd: f64,
}

impl Scaled {
    fn new(plan: &ChainPlan) -> Self {
        let rows = plan.request.records.min(MOST_RECORDS);
        let ratio = plan.request.records as f64 / rows as f64;
        let mut plan = plan.clone();
        plan.kernel.stretch(ratio.sqrt());
        if let Some(pilot) = &mut plan.pilot {
            pilot.step_size *= ratio;
        }
        let quieter = 1.0 / ratio.sqrt();
        let scaled =
            |allowance: &super::queries::Allowance| (allowance.queries().scaled(quieter), allowance.steps());
        Self {
            rows: rows as usize,
            queries: scaled(&plan.allowance),
            pilot: plan.pilot.as_ref().map(|pilot| scaled(&pilot.allowance)),
            posterior_sd: plan.guess.posterior_sd * ratio.sqrt(),
            plan,
        }
    }
}

impl ChainKernel {
    /// The same kernel with longer steps.
    fn lengthen(&mut self, factor: f64) {
        match self {
            Self::Hmc(kernel) => kernel.step_size *= factor,
            Self::Penalty(kernel) => kernel.step_size *= factor,
            Self::Sgld(kernel) => kernel.step_size *= factor,
            Self::Sgnht(kernel) => {
                kernel.step_size *= factor;
                kernel.friction *= factor;
            }
        }
    }

    /// The same kernel for a posterior that is wider by this factor.
    fn stretch(&mut self, factor: f64) {
        self.start_mut().sd.iter_mut().for_each(|sd| *sd = (*sd * factor).min(0.1));
        self.lengthen(factor);
        match self {
            Self::Sgld(kernel) => kernel.step_size *= factor,
            Self::Sgnht(kernel) => kernel.friction /= factor * factor,
            Self::Hmc(_) | Self::Penalty(_) => {}
        }
    }
}

impl Trial {
    /// What is tried, before anything is known.
    fn of(plan: &ChainPlan) -> Self {
        let settings = plan.settings();
        Self {
            step_size: settings.step_size,
            leapfrog_steps: settings.leapfrog_steps,
            gradient_clip: settings.gradient_clip,
            ratio_clip: settings.ratio_clip,
            effective: 0.0,
            error: 0.0,
            acceptance: 0.0,
            clipped_gradients: 0.0,
            clipped_ratios: 0.0,
        }
    }

    fn add(&mut self, draws: &Draws, truths: &[f64], posterior_sd: f64) {
        let (mut least, mut squares) = (f64::INFINITY, 0.0);
        for (name, truth) in draws.names().iter().zip(truths) {
            let Some(traces) = draws.traces(name) else { continue };
            let size = ess_bulk(&traces);
            least = least.min(if size.is_nan() { 0.0 } else { size });
            let mean = traces.values().iter().sum::<f64>() / traces.values().len() as f64;
            squares += ((mean - truth) / posterior_sd).powi(2) / truths.len() as f64;
        }
        self.effective += least;
        self.error += squares;
        self.acceptance += mean_statistic(draws, ChainInfo::ACCEPTANCE);
        self.clipped_gradients += mean_statistic(draws, ChainInfo::CLIPPED_GRADIENTS);
        self.clipped_ratios += mean_statistic(draws, ChainInfo::CLIPPED_RATIOS);
    }

    fn divide(&mut self, data_sets: f64) {
        self.effective /= data_sets;
        self.error = (self.error / data_sets).sqrt();
        self.acceptance /= data_sets;
        self.clipped_gradients /= data_sets;
        self.clipped_ratios /= data_sets;
    }
}

/// The mean of a step statistic over all kept draws; `NaN` if it was not counted.
pub fn mean_statistic(draws: &Draws, name: &str) -> f64 {
    let values = draws.statistic(name).map(|chains| chains.concat()).unwrap_or_default();
    // A step that did not move asks for no ratio and counts nothing.
    let counted: Vec<f64> = values.into_iter().filter(|value| !value.is_nan()).collect();
    if counted.is_empty() { f64::NAN } else { counted.iter().sum::<f64>() / counted.len() as f64 }
}
