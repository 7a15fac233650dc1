//! Runs planned chains beside the records.

use organza_mcmc::{ChainRng, Draws, Monitor, RunError, Stop, run_monitored};

use super::load::ChainDesign;
use super::model::RecordModel;
use super::models::{Linear, Logistic, Poisson};
use super::oracle::PrivateOracle;
use super::plan::{ChainKernel, ChainPlan};
use super::records::Records;
use super::words::ChainModel;
use crate::CuratorError;

/// Runs all chains of a plan on somebody's records; draws are in users' units. The plan's whole loss must have been charged before.
pub fn sample(
    design: &ChainDesign,
    plan: &ChainPlan,
    records: Records,
    monitor: &Monitor<'_>,
) -> Result<Draws, CuratorError> {
    let draws = match design.model() {
        ChainModel::Linear => run_private(design.regression(Linear), plan, records, monitor),
        ChainModel::Logistic => run_private(design.regression(Logistic), plan, records, monitor),
        ChainModel::Poisson => run_private(design.regression(Poisson), plan, records, monitor),
    }?;
    design.to_users(&draws).map_err(|error| CuratorError::setting("formula", error.to_string()))
}

fn run_private<M: RecordModel>(
    model: M,
    plan: &ChainPlan,
    records: Records,
    monitor: &Monitor<'_>,
) -> Result<Draws, CuratorError> {
    let Some(pilot) = &plan.pilot else {
        let oracle = PrivateOracle::new(model, records, &plan.allowance)?;
        return Ok(plan.kernel.run(&oracle, &plan.run, monitor)?);
    };
    let oracle = PrivateOracle::new(model, records, &pilot.allowance)?;
    let mut rng = ChainRng::new(plan.run.seed, u32::MAX);
    let kernel = plan.kernel.clone().with_pilot(plan, &oracle, &mut rng)?;
    let oracle = oracle.with_allowance(&plan.allowance)?;
    Ok(kernel.run(&oracle, &plan.run, monitor)?)
}

impl ChainKernel {
    /// The same kernel, started around the end of the pilot's path.
    pub(super) fn with_pilot<M: RecordModel>(
        mut self,
        plan: &ChainPlan,
        oracle: &PrivateOracle<M>,
        rng: &mut ChainRng,
    ) -> Result<Self, RunError> {
        let Some(pilot) = &plan.pilot else { return Ok(self) };
        let failed = |stop: Stop| RunError::Chain { chain: 1, step: 0, warmup: plan.run.warmup, stop };
        let centre = pilot.climb(oracle, &plan.guess.centre, rng).map_err(failed)?;
        self.start_mut().centre = centre;
        Ok(self)
    }

    pub(super) fn start_mut(&mut self) -> &mut super::kernels::Start {
        match self {
            Self::Hmc(kernel) => &mut kernel.start,
            Self::Penalty(kernel) => &mut kernel.start,
            Self::Sgld(kernel) => &mut kernel.start,
            Self::Sgnht(kernel) => &mut kernel.start,
        }
    }

    /// Step size.
    pub fn step_size(&self) -> f64 {
        match self {
            Self::Hmc(kernel) => kernel.step_size,
            Self::Penalty(kernel) => kernel.step_size,
            Self::Sgld(kernel) => kernel.step_size,
            Self::Sgnht(kernel) => kernel.step_size,
        }
    }

    /// Runs the chains on an oracle, in the model's own units.
    pub fn run<M: RecordModel>(
        &self,
        oracle: &PrivateOracle<M>,
        plan: &organza_mcmc::Plan,
        monitor: &Monitor<'_>,
    ) -> Result<Draws, RunError> {
        match self {
            Self::Hmc(kernel) => run_monitored(kernel, oracle, plan, monitor),
            Self::Penalty(kernel) => run_monitored(kernel, oracle, plan, monitor),
            Self::Sgld(kernel) => run_monitored(kernel, oracle, plan, monitor),
            Self::Sgnht(kernel) => run_monitored(kernel, oracle, plan, monitor),
        }
    }
}
