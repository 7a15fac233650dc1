//! All replicates, in parallel; the same numbers on any number of threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use organza_infer::{Fit, MethodSpec, fit};
use organza_mcmc::{Monitor, Plan};
use organza_release::Release;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use super::{Calibration, Ranks};
use crate::StudyError;
use crate::{Watch, generator, seed};

/// Chains are at most so many times as long as planned.
pub(super) const LONGEST: usize = 16;

/// Ranks, and how independent the draws were.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Ranks of the truth.
    pub ranks: Ranks,
    /// Smallest effective size of a parameter, counted over all steps of the chain, over the number of ranked draws, replicate by replicate.
    /// From 1 on draws are nearly independent: their correlation is below 0.14 if that of the chain falls geometrically.
    pub independence: Vec<f64>,
}

impl Calibration {
    /// Runs all replicates. An interruption is an error: ranks of some replicates only are of no use.
    pub fn run(&self, watch: &Watch<'_>) -> Result<Outcome, StudyError> {
        let (done, total) = (AtomicUsize::new(0), self.request.replicates);
        let one = |number: usize| {
            if watch.is_interrupted() {
                return Err(StudyError::Interrupted);
            }
            let found = self.replicate(number, watch);
            watch.progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
            // A chain that was cut short fails in one way or another.
            if watch.is_interrupted() { Err(StudyError::Interrupted) } else { found }
        };
        let found: Vec<(Ranks, f64)> =
            (1..total + 1).into_par_iter().with_max_len(1).map(one).collect::<Result<_, _>>()?;
        let independence = found.iter().map(|(_, independence)| *independence).collect();
        let empty = Ranks::new(&self.parameters(), self.request.draws);
        let ranks = found.into_iter().map(|(ranks, _)| ranks).fold(empty, Ranks::join);
        Ok(Outcome { ranks, independence })
    }

    /// One truth, its releases, and its ranks among the draws of a chain that is as long as it must be.
    fn replicate(&self, number: usize, watch: &Watch<'_>) -> Result<(Ranks, f64), StudyError> {
        let seed = seed(self.request.seed, "calibration", &self.name(), number as u64);
        let mut rng = generator(seed, 0);
        let truth = self.study.truth_for(self.request.method, &mut rng);
        let releases = self.study.releases(self.data, &truth, &mut rng);
        let names = self.parameters();
        let (first_warmup, first) = self.steps();
        let mut longer = 1;
        loop {
            let (warmup, every) = (longer * first_warmup, longer * first);
            let draws = every * self.request.draws;
            let plan = Plan { chains: 1, warmup, draws, thin: 1, seed, threads: 1 };
            let fitted = self
                .fit(&releases, &plan, &watch.monitor())
                .map_err(|reason| StudyError::Replicate { replicate: number, reason })?;
            let independence = self.independence(&fitted, &names);
            if independence < 1.0 && longer < LONGEST {
                longer *= 2;
                continue;
            }
            let thinned = |chain: Vec<f64>| chain.into_iter().skip(every - 1).step_by(every).collect();
            let columns: Option<Vec<Vec<f64>>> =
                names.iter().map(|name| Some(thinned(fitted.draws.parameter(name)?.concat()))).collect();
            let columns = columns.filter(|columns| columns[0].len() == self.request.draws);
            let columns = columns.ok_or_else(|| StudyError::Replicate {
                replicate: number,
                reason: "the chain has not all of its draws".into(),
            })?;
            let mut values = truth.theta.clone();
            values.push(truth.variance.sqrt());
            let mut ranks = Ranks::new(&names, self.request.draws);
            ranks.add(&values[..names.len()], |place| &columns[place]);
            return Ok((ranks, independence));
        }
    }

    fn fit(&self, releases: &[Release], plan: &Plan, monitor: &Monitor<'_>) -> Result<Fit, String> {
        let spec = MethodSpec { method: Some(self.request.method), sampler: Some(self.sampler) };
        let model = self.study.model_for(self.request.method);
        fit(&spec, &model, releases, plan, monitor).map_err(|error| error.to_string())
    }

    /// Smallest effective size of a ranked parameter over the number of ranked draws; a chain that stands still has none.
    fn independence(&self, fitted: &Fit, names: &[String]) -> f64 {
        if self.sampler.is_independent() {
            return 1.0;
        }
        let ranked = fitted.summary.parameters.iter().filter(|row| names.contains(&row.name));
        let sizes = ranked.map(|row| if row.ess_bulk.is_nan() { 0.0 } else { row.ess_bulk });
        sizes.fold(f64::INFINITY, f64::min) / self.request.draws as f64
    }
}
