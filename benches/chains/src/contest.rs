//! The chains as a data holder runs them: noise and samples from the operating system, a budget that is paid.

use crate::Failure;
use crate::clock::{Seconds, timed};
use crate::settings::{Motion, setting};
use organza_curator::chains::kernels::{
    ChainInfo, DpHmc, DpPenalty, DpSgld, DpSgnht, Langevin, Preconditioner, Start, Walk,
};
use organza_curator::chains::models::{Banana, GaussianMean};
use organza_curator::chains::{
    Allowance, Budget, GradientQuery, PrivateOracle, RecordModel, Records, StepQueries, mean_statistic,
};
use organza_mcmc::{ChainRng, Kernel, Plan, run};
use organza_release::Neighbours;

/// Large enough for every run here; above about 30 the noise's lattice would spoil it.
const BUDGET: Budget = Budget { epsilon: 25.0, delta: 1e-6, neighbours: Neighbours::Substitute };

/// A problem and its records, as run.py wrote them.
#[derive(Debug)]
pub struct Problem {
    name: String,
    records: Records,
    covariance: Vec<f64>,
}

impl Problem {
    /// Reads doubles: the covariance of `gauss`, then the columns.
    pub fn load(name: &str, rows: usize, path: &str) -> Result<Self, Failure> {
        let bytes = std::fs::read(path)?;
        let values: Vec<f64> =
            bytes.as_chunks().0.iter().map(|bytes: &[u8; 8]| f64::from_le_bytes(*bytes)).collect();
        let (covariance, columns) = values.split_at(if name == "gauss" { 100 } else { 0 });
        let columns: Vec<Vec<f64>> = columns.chunks(rows.max(1)).map(<[f64]>::to_vec).collect();
        Ok(Self {
            name: name.into(),
            records: Records::from_columns(&columns)?,
            covariance: covariance.to_vec(),
        })
    }

    /// Four chains: their time, the mean acceptance and the mean of the first parameter.
    pub fn chains(
        &self,
        method: &str,
        (threads, steps): (usize, usize),
    ) -> Result<(Seconds, String), Failure> {
        let (queries, motion) = setting(method, &self.name, self.records.rows())?;
        let plan = Plan { chains: 4, warmup: 0, draws: steps, thin: 1, seed: 1, threads };
        let allowance = Allowance::of(queries, (plan.chains * steps) as u64, BUDGET)?;
        if self.name == "banana" {
            let start = Start { centre: vec![0.0, 3.0], sd: vec![0.1; 2] };
            let oracle = PrivateOracle::new(Banana::default(), self.records.clone(), &allowance)?;
            move_chains(&oracle, motion, start, &plan)
        } else {
            let start = Start { centre: vec![0.0; 10], sd: vec![1e-4; 10] };
            let oracle = PrivateOracle::new(self.gaussian()?, self.records.clone(), &allowance)?;
            move_chains(&oracle, motion, start, &plan)
        }
    }

    fn gaussian(&self) -> Result<GaussianMean, Failure> {
        Ok(GaussianMean::new(&self.covariance, 100.0)?)
    }

    /// One noisy gradient far from the posterior, where terms do not cancel: run.py compares it with the rivals'.
    pub fn gradient(&self, clip: f64) -> Result<String, Failure> {
        let dimension = self.records.columns();
        let query = GradientQuery { times: 1, clip, noise: 1.0, rate: 1.0 };
        let queries = StepQueries { gradient: Some(query), ratio: None, count_weight: 0.0, dimension };
        let allowance = Allowance::of(queries, 1, BUDGET)?;
        let theta = vec![1.0; dimension];
        if self.name == "banana" {
            ask(&PrivateOracle::new(Banana::default(), self.records.clone(), &allowance)?, &theta)
        } else {
            ask(&PrivateOracle::new(self.gaussian()?, self.records.clone(), &allowance)?, &theta)
        }
    }
}

fn ask<M: RecordModel>(oracle: &PrivateOracle<M>, theta: &[f64]) -> Result<String, Failure> {
    let mut gradient = vec![0.0; theta.len()];
    let mut permit = oracle.permit().map_err(|stop| format!("{stop:?}"))?;
    permit.gradient(theta, &mut ChainRng::new(0, 0), &mut gradient).map_err(|stop| format!("{stop:?}"))?;
    Ok(gradient.iter().map(f64::to_string).collect::<Vec<_>>().join(" "))
}

fn move_chains<M: RecordModel>(
    oracle: &PrivateOracle<M>,
    motion: Motion,
    start: Start,
    plan: &Plan,
) -> Result<(Seconds, String), Failure> {
    let preconditioner = Preconditioner::Identity;
    match motion {
        Motion::Hmc { step_size, leapfrog_steps } => {
            let kernel = DpHmc { start, step_size, leapfrog_steps, shortest: 0.0, preconditioner };
            finish(oracle, &kernel, plan)
        }
        Motion::Walk { step_size } => {
            finish(oracle, &DpPenalty { start, step_size, walk: Walk::All, preconditioner }, plan)
        }
        Motion::Langevin { step_size } => {
            finish(oracle, &DpSgld { start, step_size, noise: Langevin::Published }, plan)
        }
        Motion::Thermostat { step_size, friction } => {
            finish(oracle, &DpSgnht { start, step_size, friction }, plan)
        }
    }
}

fn finish<M: RecordModel, K: Kernel<PrivateOracle<M>>>(
    oracle: &PrivateOracle<M>,
    kernel: &K,
    plan: &Plan,
) -> Result<(Seconds, String), Failure> {
    let (draws, seconds) = timed(|| run(kernel, oracle, plan));
    let draws = draws?;
    let first = draws.values().iter().step_by(oracle.dimension());
    let (count, sum) = first.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    Ok((seconds, format!("{} {}", mean_statistic(&draws, ChainInfo::ACCEPTANCE), sum / count)))
}
