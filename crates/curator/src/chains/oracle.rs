//! The only way from a chain to the records: questions that are clipped, noised and paid for.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use organza_mcmc::{ChainRng, Stop};
use organza_release::Family;
use pulp::Arch;
use rand::rngs::{ChaCha20Rng, SysRng};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::lattice::{STEPS, indicator_steps, noise_steps};
use super::model::{RecordModel, Simulate};
use super::pass::{AddGradients, AddRatios};
use super::queries::{Allowance, StepQueries};
use super::records::{BLOCK, Blocks, Records};
use super::sampling::{draw_sample, rehearse_sample, threshold};
use super::scratch::Scratch;
use crate::CuratorError;
use crate::mechanism::NoiseRng;

/// Blocks in a task: enough work to be worth a thread's while.
const TASK: usize = 128;

/// Records, the model of them and an accountant.
///
/// A kernel gets [`permits`](Self::permit), one for each step; a permit answers exactly the questions of one step, and
/// making it is the payment. There is no other access to the records, so a kernel cannot forget to pay. When the steps
/// are used up the answer is [`Stop::BudgetExhausted`].
#[derive(Debug)]
pub struct PrivateOracle<M> {
    model: M,
    records: Records,
    queries: StepQueries,
    dimension: usize,
    source: Source,
    paid: AtomicU64,
    steps: u64,
    scratch: Mutex<Vec<Scratch>>,
    samples: Mutex<Vec<Vec<u32>>>,
    architecture: Arch,
    #[cfg(test)]
    pub(super) faults: Faults,
    /// Questions for gradients and ratios that were answered.
    #[cfg(test)]
    pub(super) answered: [AtomicU64; 2],
}

/// Where noise and samples come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The operating system: the records are somebody's.
    OperatingSystem,
    /// The chain's own generator: the records are made up.
    Rehearsal,
}

/// Bugs that tests put in to see them caught.
#[cfg(test)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Faults {
    pub(super) forget_variance: bool,
    pub(super) flip_gradient: bool,
}

/// The answer to a question for a ratio of posterior densities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogRatio {
    /// ln p(to | X) - ln p(from | X), clipped and with noise.
    pub value: f64,
    /// Variance of the noise.
    pub variance: f64,
    /// Share of clipped ratios, with noise; `NaN` if they are not counted.
    pub clipped: f64,
}

impl<M: RecordModel> PrivateOracle<M> {
    /// An oracle of somebody's records. Noise comes from the operating system.
    pub fn new(model: M, records: Records, allowance: &Allowance) -> Result<Self, CuratorError> {
        Self::build(model, records, *allowance.queries(), allowance.steps(), Source::OperatingSystem)
    }

    /// The same records for other questions, which must have been paid for as well.
    pub fn with_allowance(self, allowance: &Allowance) -> Result<Self, CuratorError> {
        let queries = *allowance.queries();
        if queries.dimension != self.dimension {
            let reason =
                format!("has {} parameters, the questions are about {}", self.dimension, queries.dimension);
            return Err(CuratorError::setting("model", reason));
        }
        Ok(Self { queries, steps: allowance.steps(), paid: AtomicU64::new(0), ..self })
    }

    fn build(
        model: M,
        mut records: Records,
        queries: StepQueries,
        steps: u64,
        source: Source,
    ) -> Result<Self, CuratorError> {
        let dimension = model.parameters().len();
        if records.columns() != model.columns() || queries.dimension != dimension || dimension == 0 {
            let reason = format!(
                "the model has {dimension} parameters and {} numbers in a record; the questions are about {} parameters, the records have {} numbers",
                model.columns(),
                queries.dimension,
                records.columns(),
            );
            return Err(CuratorError::setting("model", reason));
        }
        records.map(|record| model.prepare(record));
        Ok(Self {
            model,
            records,
            queries,
            dimension,
            source,
            paid: AtomicU64::new(0),
            steps,
            scratch: Mutex::default(),
            samples: Mutex::default(),
            architecture: Arch::new(),
            #[cfg(test)]
            faults: Faults::default(),
            #[cfg(test)]
            answered: Default::default(),
        })
    }

    /// The model.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// Number of parameters.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// What a step asks.
    pub fn queries(&self) -> &StepQueries {
        &self.queries
    }

    /// Steps that have been paid for.
    pub fn paid(&self) -> u64 {
        self.paid.load(Ordering::SeqCst)
    }

    /// Pays for the questions of one step.
    pub fn permit(&self) -> Result<Permit<'_, M>, Stop> {
        let more = |paid: u64| (paid < self.steps).then_some(paid + 1);
        let paid = self.paid.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more);
        paid.map_err(|_| Stop::BudgetExhausted)?;
        let gradients = self.queries.gradient.map_or(0, |query| query.times);
        Ok(Permit { oracle: self, gradients, ratios: u32::from(self.queries.ratio.is_some()) })
    }

    /// Standard deviation of the noise in each coordinate of an answer about gradients.
    pub fn gradient_noise_sd(&self) -> f64 {
        self.queries.gradient.map_or(0.0, |query| query.noise * query.clip / query.rate)
    }

    /// Sums over all records into a scratch; what is added for a run of blocks is the caller's.
    fn over_all(&self, add: impl Fn(Blocks<'_>, &mut Scratch) + Sync) -> Scratch {
        let mut total = self.borrow_scratch();
        let blocks = self.records.blocks();
        if blocks <= TASK {
            add(self.records.run(0, blocks), &mut total);
            return total;
        }
        let shared = Mutex::new(total);
        (0..blocks.div_ceil(TASK)).into_par_iter().for_each(|task| {
            let mut scratch = self.borrow_scratch();
            add(self.records.run(task * TASK, TASK), &mut scratch);
            let mut total = unpoisoned(shared.lock());
            total.sums.iter_mut().zip(&scratch.sums).for_each(|(total, sum)| *total += sum);
            total.clipped += scratch.clipped;
            drop(total);
            self.give_back(scratch);
        });
        shared.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn over_sample(
        &self,
        rate: f64,
        rng: &mut ChainRng,
        add: impl Fn(&[u32], &mut Scratch),
    ) -> Result<Scratch, Stop> {
        let mut total = self.borrow_scratch();
        let mut chosen = unpoisoned(self.samples.lock()).pop().unwrap_or_default();
        let rows = self.records.rows() as u32; // fewer than 2^32 by construction
        match self.source {
            Source::OperatingSystem => {
                let mut secret = ChaCha20Rng::try_from_rng(&mut SysRng).map_err(no_entropy)?;
                draw_sample(rows, threshold(rate), &mut secret, &mut chosen);
            }
            Source::Rehearsal => rehearse_sample(self.architecture, (rows, rate), rng, &mut chosen),
        }
        chosen.chunks(BLOCK).for_each(|rows| add(rows, &mut total));
        unpoisoned(self.samples.lock()).push(chosen);
        Ok(total)
    }

    fn borrow_scratch(&self) -> Scratch {
        let scratch = unpoisoned(self.scratch.lock()).pop();
        let mut scratch = scratch.unwrap_or_else(|| Scratch::new(self.dimension, self.records.columns()));
        scratch.clear();
        scratch
    }

    fn give_back(&self, scratch: Scratch) {
        unpoisoned(self.scratch.lock()).push(scratch);
    }

    /// Noise of so many lattice steps.
    fn noise(&self, noise: f64, rng: &mut ChainRng) -> Result<i128, Stop> {
        match self.source {
            Source::OperatingSystem => {
                let drawn = NoiseRng::from_operating_system().draw(Family::Gaussian, noise_steps(noise));
                drawn.map_err(no_entropy)
            }
            Source::Rehearsal => Ok((noise * STEPS * rng.sample::<f64, _>(StandardNormal)).round() as i128),
        }
    }

    /// The noisy share of clipped terms among `among` records.
    fn clipped_share(&self, clipped: i64, noise: f64, among: f64, rng: &mut ChainRng) -> Result<f64, Stop> {
        let weight = indicator_steps(self.queries.count_weight);
        if weight == 0 {
            return Ok(f64::NAN);
        }
        let steps = noisy(clipped * weight, self.noise(noise, rng)?);
        Ok(steps / weight as f64 / among)
    }
}

/// A sum and its noise in lattice steps, added as integers: what is rounded to a double is private already.
pub(super) fn noisy(sum: i64, noise: i128) -> f64 {
    (i128::from(sum) + noise) as f64
}

impl<M: Simulate> PrivateOracle<M> {
    /// An oracle of made-up records: `rows` draws from the model at `theta`. It costs nothing, and noise, samples and records come from
    /// seeds, so that a rehearsal can be repeated. Questions may be without noise here.
    pub fn rehearsal(
        model: M,
        theta: &[f64],
        rows: usize,
        (queries, steps): (StepQueries, u64),
        rng: &mut ChainRng,
    ) -> Result<Self, CuratorError> {
        queries.check(0.0)?;
        let mut columns = vec![Vec::with_capacity(rows); model.columns()];
        let mut record = vec![0.0; model.columns()];
        for _ in 0..rows {
            model.draw_record(theta, rng, &mut record);
            columns.iter_mut().zip(&record).for_each(|(column, value)| column.push(*value));
        }
        Self::build(model, Records::from_columns(&columns)?, queries, steps, Source::Rehearsal)
    }

    /// The made-up records of a rehearsal, as the model prepared them; none of an oracle of somebody's records.
    pub fn rehearsed_records(&self) -> Option<&Records> {
        (self.source == Source::Rehearsal).then_some(&self.records)
    }
}

/// The paid questions of one step.
#[derive(Debug)]
pub struct Permit<'o, M> {
    oracle: &'o PrivateOracle<M>,
    gradients: u32,
    ratios: u32,
}

impl<M: RecordModel> Permit<'_, M> {
    /// The gradient of the log posterior density at theta, clipped and with noise; returns the noisy share of clipped
    /// gradients (`NaN` if they are not counted). `rng` is read in a rehearsal only.
    pub fn gradient(&mut self, theta: &[f64], rng: &mut ChainRng, gradient: &mut [f64]) -> Result<f64, Stop> {
        let oracle = self.oracle;
        let query = oracle.queries.gradient.ok_or_else(unpaid)?;
        self.gradients = self.gradients.checked_sub(1).ok_or_else(unpaid)?;
        #[cfg(test)]
        oracle.answered[0].fetch_add(1, Ordering::SeqCst);
        let add = |blocks: Blocks<'_>, scratch: &mut Scratch| {
            let (model, clip) = (&oracle.model, query.clip);
            oracle.architecture.dispatch(AddGradients { model, theta, blocks, clip, scratch });
        };
        let total = if query.rate < 1.0 {
            oracle.over_sample(query.rate, rng, |rows, scratch| {
                let mut gathered = std::mem::take(&mut scratch.gathered);
                add(oracle.records.gather(rows, &mut gathered).into(), scratch);
                scratch.gathered = gathered;
            })?
        } else {
            oracle.over_all(add)
        };
        let unit = query.clip / STEPS / query.rate;
        for (value, sum) in gradient.iter_mut().zip(&total.sums) {
            *value = noisy(*sum, oracle.noise(query.noise, rng)?) * unit;
        }
        let among = query.rate * oracle.records.rows() as f64;
        let clipped = oracle.clipped_share(total.clipped, query.noise, among, rng)?;
        oracle.give_back(total);
        oracle.model.add_prior_gradient(theta, gradient);
        #[cfg(test)]
        if oracle.faults.flip_gradient {
            gradient.iter_mut().for_each(|value| *value = -*value);
        }
        Ok(clipped)
    }

    /// The log ratio of posterior densities, clipped and with noise. `rng` is read in a rehearsal only.
    pub fn log_ratio(&mut self, from: &[f64], to: &[f64], rng: &mut ChainRng) -> Result<LogRatio, Stop> {
        let oracle = self.oracle;
        let query = oracle.queries.ratio.ok_or_else(unpaid)?;
        self.ratios = self.ratios.checked_sub(1).ok_or_else(unpaid)?;
        #[cfg(test)]
        oracle.answered[1].fetch_add(1, Ordering::SeqCst);
        let distance = from.iter().zip(to).map(|(from, to)| (to - from) * (to - from)).sum::<f64>().sqrt();
        let clip = query.clip * distance; // [RKH21] Algorithm 1: c_l
        if !(clip > 0.0 && clip.is_finite()) {
            // A point that did not move has the ratio 1, and one at infinity is never accepted: no record is asked.
            let value = if clip == 0.0 { 0.0 } else { f64::NEG_INFINITY };
            return Ok(LogRatio { value, variance: 0.0, clipped: f64::NAN });
        }
        let total = oracle.over_all(|blocks, scratch| {
            let (model, points) = (&oracle.model, (from, to));
            oracle.architecture.dispatch(AddRatios { model, points, blocks, clip, scratch });
        });
        let sum = noisy(total.sums[0], oracle.noise(query.noise, rng)?) * (clip / STEPS);
        let clipped = oracle.clipped_share(total.clipped, query.noise, oracle.records.rows() as f64, rng)?;
        oracle.give_back(total);
        let value = sum + oracle.model.log_prior(to) - oracle.model.log_prior(from);
        let sd = query.noise * clip;
        #[cfg(test)]
        let sd = if oracle.faults.forget_variance { 0.0 } else { sd };
        Ok(LogRatio { value, variance: sd * sd, clipped })
    }
}

/// A kernel that asks for more than a step may is wrong, not private chains as such.
fn unpaid() -> Stop {
    Stop::numerical("a step asked the records for more than it paid for: a bug of the kernel")
}

fn no_entropy(error: impl std::fmt::Display) -> Stop {
    Stop::numerical(format!("no randomness from the operating system: {error}"))
}

/// The guarded lists hold whole entries at any moment, so a panic elsewhere does not spoil them.
fn unpoisoned<T>(guard: std::sync::LockResult<T>) -> T {
    guard.unwrap_or_else(std::sync::PoisonError::into_inner)
}
