//! One chain from its start to its end.

use super::monitor::{Halt, Signals};
use crate::draws::{ChainRecord, End};
use crate::{ChainRng, Info, Kernel, Plan, RunError, Stop, Thinned};

/// What a chain leaves behind.
pub(crate) struct Outcome {
    /// How many draws there are and how the chain ended.
    pub(crate) record: ChainRecord,
    /// Values of one draw.
    pub(crate) dimension: usize,
    /// Draw by draw.
    pub(crate) values: Vec<f64>,
    /// Draw by draw.
    pub(crate) statistics: Vec<f64>,
}

/// Why a chain ends before its time.
enum Early {
    Halt(Halt),
    Stop(Stop),
    Dimension { found: usize },
    Plan(RunError),
}

impl From<Stop> for Early {
    fn from(stop: Stop) -> Self {
        Early::Stop(stop)
    }
}

/// A chain while it runs.
pub(super) struct ChainRun<'r, T: ?Sized, K> {
    kernel: K,
    target: &'r T,
    plan: &'r Plan,
    chain: usize,
    outcome: Outcome,
}

impl<'r, T: ?Sized, K: Kernel<T>> ChainRun<'r, T, K> {
    pub(super) fn new(kernel: &K, target: &'r T, plan: &'r Plan, chain: usize) -> Self {
        let record = ChainRecord { draws: 0, steps: 0, end: End::Complete };
        let outcome = Outcome { record, dimension: 0, values: Vec::new(), statistics: Vec::new() };
        Self { kernel: kernel.clone(), target, plan, chain, outcome }
    }

    /// Runs the chain and sorts its end into ordinary ends and failures.
    pub(super) fn finish(mut self, signals: &Signals<'_>) -> Result<Outcome, RunError> {
        let early = self.sample(signals).err();
        let (chain, step) = (self.chain + 1, self.outcome.record.steps);
        self.outcome.record.end = match early {
            None => End::Complete,
            Some(Early::Halt(Halt::Interrupted | Halt::GivenUp)) => End::Interrupted,
            Some(Early::Stop(Stop::BudgetExhausted)) => End::BudgetExhausted,
            Some(Early::Stop(stop)) => {
                signals.failed(self.chain);
                return Err(RunError::Chain { chain, step, warmup: self.plan.warmup, stop });
            }
            Some(Early::Plan(error)) => {
                signals.failed(self.chain);
                return Err(error);
            }
            Some(Early::Dimension { found }) => {
                signals.failed(self.chain);
                let expected = self.outcome.dimension;
                return Err(RunError::Dimension { chain, step, expected, found });
            }
        };
        Ok(self.outcome)
    }

    fn sample(&mut self, signals: &Signals<'_>) -> Result<(), Early> {
        // The plan has been checked: every chain has a number that fits.
        let mut rng = ChainRng::new(self.plan.seed, self.chain as u32);
        if let Some(halt) = signals.halt(self.chain) {
            return Err(Early::Halt(halt));
        }
        let mut state = self.kernel.init(self.target, &mut rng)?;
        self.outcome.dimension = self.kernel.position(&state).len();
        self.plan.check_memory(self.outcome.dimension).map_err(Early::Plan)?;
        for _ in 0..self.plan.warmup {
            let info = self.step(&mut state, &mut rng, signals)?;
            self.kernel.adapt(&state, &info);
        }
        self.kernel.freeze();
        let mut thinning = Thinning::new(K::Info::STATISTICS.len());
        for _ in 0..self.plan.draws {
            for _ in 0..self.plan.thin {
                let info = self.step(&mut state, &mut rng, signals)?;
                thinning.add(&info);
            }
            self.keep(&state)?;
            thinning.finish::<K::Info>(self.plan.thin, &mut self.outcome.statistics);
        }
        Ok(())
    }

    fn step(
        &mut self,
        state: &mut K::State,
        rng: &mut ChainRng,
        signals: &Signals<'_>,
    ) -> Result<K::Info, Early> {
        if let Some(halt) = signals.halt(self.chain) {
            return Err(Early::Halt(halt));
        }
        let info = self.kernel.step(self.target, state, rng);
        if !matches!(info, Err(Stop::BudgetExhausted)) {
            self.outcome.record.steps += 1; // a step that failed has a number too, for the message
        }
        let info = info?;
        let step = self.outcome.record.steps;
        signals.stepped(self.chain, step, step <= self.plan.warmup);
        Ok(info)
    }

    fn keep(&mut self, state: &K::State) -> Result<(), Early> {
        let position = self.kernel.position(state);
        if position.len() != self.outcome.dimension {
            return Err(Early::Dimension { found: position.len() });
        }
        if let Some(place) = position.iter().position(|value| !value.is_finite()) {
            let reason = format!("parameter {} is {}, not a finite number", place + 1, position[place]);
            return Err(Early::Stop(Stop::Numerical { reason }));
        }
        self.outcome.values.extend_from_slice(position);
        self.outcome.record.draws += 1;
        Ok(())
    }
}

/// Statistics of the steps since the last draw.
struct Thinning {
    last: Vec<f64>,
    sum: Vec<f64>,
}

impl Thinning {
    fn new(statistics: usize) -> Self {
        Self { last: vec![0.0; statistics], sum: vec![0.0; statistics] }
    }

    fn add<I: Info>(&mut self, info: &I) {
        info.write(&mut self.last);
        self.sum.iter_mut().zip(&self.last).for_each(|(sum, last)| *sum += last);
    }

    fn finish<I: Info>(&mut self, steps: usize, statistics: &mut Vec<f64>) {
        let rows = I::STATISTICS.iter().zip(&self.last).zip(&self.sum);
        statistics.extend(rows.map(|((statistic, last), sum)| match statistic.thinned {
            Thinned::Last => *last,
            Thinned::Mean => sum / steps as f64,
            Thinned::Sum => *sum,
        }));
        self.sum.fill(0.0);
    }
}
