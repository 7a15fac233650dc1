//! Private chains as a job: read, plan, refuse what is not worth its budget, charge, sample, keep.

use std::path::PathBuf;

use organza_curator::CuratorError;
use organza_curator::chains::{
    Budget, ChainDesign, ChainMethod, ChainPlan, ChainRequest, LEAST_EFFECTIVE_DRAWS, Records, Tuning, sample,
};
use organza_curator::ledger::Charge;
use organza_curator::table::{Counts, Progress, Reading};
use organza_mcmc::{Monitor, Summary};
use organza_release::Neighbours;

use crate::Error;
use crate::beside_table::BesideTable;
use crate::chain_fit::Settings;
pub use crate::chain_fit::{ChainFit, ChainPrivacy, sample_schema};
use crate::fit_folder::FitFolder;

/// Everything about private chains beside a table.
#[derive(Debug, Clone)]
pub struct PrivateChains {
    /// The table and who pays.
    pub table: BesideTable,
    /// The model, the formula, the bounds and the prior.
    pub design: ChainDesign,
    /// The method; without one it is that whose plan promises the most effective draws.
    pub method: Option<ChainMethod>,
    /// The limit of the loss, for everything together.
    pub budget: Budget,
    /// Number of chains.
    pub chains: usize,
    /// Seed of proposals and starts. Noise never has one.
    pub seed: u64,
    /// Threads; 0 is one for each core.
    pub threads: usize,
    /// What is chosen by hand.
    pub tuning: Tuning,
    /// Mass of the intervals.
    pub mass: f64,
    /// Whether the budget is spent on a plan that promises few effective draws.
    pub allow_few_draws: bool,
    /// Folder for draws, summary and settings.
    pub output: Option<PathBuf>,
    /// Whether an existing fit is replaced.
    pub overwrite: bool,
}

impl PrivateChains {
    /// Four chains of the best method, kept nowhere.
    pub fn new(table: BesideTable, design: ChainDesign, epsilon: f64, delta: f64) -> Self {
        Self {
            table,
            design,
            method: None,
            budget: Budget { epsilon, delta, neighbours: Neighbours::Substitute },
            chains: 4,
            seed: 0,
            threads: 0,
            tuning: Tuning::default(),
            mass: 0.95,
            allow_few_draws: false,
            output: None,
            overwrite: false,
        }
    }

    /// The plan for so many records. No data are read.
    pub fn plan(&self, records: u64) -> Result<ChainPlan, Error> {
        if !(self.mass > 0.0 && self.mass < 1.0) {
            return Err(CuratorError::setting("mass", format!("{} is not between 0 and 1", self.mass)).into());
        }
        let request = |method| ChainRequest {
            method,
            records,
            budget: self.budget,
            chains: self.chains,
            seed: self.seed,
            threads: self.threads,
            tuning: self.tuning,
        };
        Ok(match self.method {
            Some(method) => ChainPlan::new(&self.design, &request(method)),
            None => ChainPlan::best(&self.design, &request(ChainMethod::DpSgld)),
        }?)
    }

    /// What the ledger is charged for a plan.
    pub fn charge(&self, plan: &ChainPlan) -> Result<Charge, Error> {
        let (formula, model) = (&self.design.domain().formula, self.design.model());
        Ok(plan.charge(format!("{formula}, {model} by {}", plan.request.method))?)
    }

    /// The table's number of records, which is public; every cell is checked on the way.
    pub fn count(&self, progress: &dyn Progress) -> Result<u64, Error> {
        let options = &self.table.options;
        Ok(self.design.count(&Reading { input: &self.table.input, options, progress })?.records)
    }

    /// Reserves the folder, reads the table and plans. Nothing is asked of the records, and nothing is charged.
    pub fn prepare(&self, progress: &dyn Progress) -> Result<ReadyChains<'_>, Error> {
        let folder =
            self.output.as_deref().map(|path| FitFolder::create(path, self.overwrite)).transpose()?;
        if let (Some(folder), Some(table)) = (&folder, self.table.file()) {
            folder.as_private_as(table)?;
        }
        let options = self.table.recognising()?;
        let reading = Reading { input: &self.table.input, options: &options, progress };
        let (records, counts) = self.design.load(&reading)?;
        let plan = self.plan(counts.records)?;
        if let Some(advice) = few_draws(plan.effective_draws()).filter(|_| !self.allow_few_draws) {
            return Err(Error::FewDraws { advice });
        }
        Ok(ReadyChains { chains: self, plan, folder, records, counts })
    }
}

/// What is said of a plan that is not worth its budget.
pub fn few_draws(effective: f64) -> Option<String> {
    (effective < LEAST_EFFECTIVE_DRAWS).then(|| {
        format!(
            "about {effective:.0} effective draws can be expected, and fewer than {LEAST_EFFECTIVE_DRAWS} say little: a larger \
             value of the setting `epsilon`, more records or fewer features give more; a release and a fit of it need far less \
             where a statistic suffices; the setting `allow_few_draws = true` runs it all the same"
        )
    })
}

/// Chains that are about to run.
pub struct ReadyChains<'a> {
    chains: &'a PrivateChains,
    plan: ChainPlan,
    folder: Option<FitFolder>,
    records: Records,
    counts: Counts,
}

impl ReadyChains<'_> {
    /// How they will run.
    pub fn plan(&self) -> &ChainPlan {
        &self.plan
    }

    /// Charges the whole loss before the first question, runs the chains and keeps what comes out.
    pub fn run(self, monitor: &Monitor<'_>) -> Result<ChainFit, Error> {
        let Self { chains, plan, folder, records, counts } = self;
        let charge = chains.charge(&plan)?;
        let paid = chains.table.charge(&chains.design.subject(), &charge, &counts)?;
        let unfinished = |problem: String| Error::Unfinished { problem };
        let drawn = sample(&chains.design, &plan, records, monitor);
        let draws = drawn.map_err(|error| unfinished(error.to_string()))?;
        if draws.total() == 0 {
            return Err(unfinished("interrupted before the first draw, so nothing is kept".into()));
        }
        let summary = Summary::new(&draws, chains.mass).map_err(|error| unfinished(error.to_string()))?;
        let (records, rows) = (counts.records, counts.rows);
        let domain = chains.design.domain().clone();
        let mut fit = ChainFit { domain, plan, charge, records, rows, draws, summary, paid };
        if let (Some(folder), Some(path)) = (folder, &chains.output) {
            let settings = Settings::new(&fit, chains.design.prior_sd());
            folder.finish(&fit.draws, &fit, &settings)?;
            fit.paid.iter_mut().try_for_each(|paid| paid.mark_published(path))?;
        }
        Ok(fit)
    }
}
