//! `organza sample`: private chains beside the table, for models of which no statistic suffices.

pub mod report;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use organza::private_chains::{PrivateChains, few_draws};
use organza_curator::chains::kernels::{Langevin, Walk};
use organza_curator::chains::{ChainDesign, ChainPlan, MOST_RECORDS, Rehearsal, Tuning, rehearse};
use organza_curator::formula::Formula;

use self::report::{explain_plan, plan_json, table_of, trials_json, trials_table};
use super::beside_table::{BesideTable, NO_LEDGER, spent};
use super::failure::{Failure, Status};
use super::fit;
use super::release::read_bounds;
use super::terminal::{Bar, print_json, print_text, say, warn};

/// The arguments as a person gives them.
#[derive(Args, Debug)]
pub struct SampleArguments {
    /// The table: CSV (also gzipped) or Parquet; `-` reads CSV from standard input
    #[arg(value_name = "TABLE", required_unless_present = "records")]
    pub(super) table: Option<PathBuf>,
    /// linear, logistic (response 0 or 1) or poisson (response a count)
    #[arg(long)]
    model: String,
    /// The regression, for example "ill ~ age + dose"
    #[arg(long)]
    formula: String,
    /// TOML file with public bounds and levels: a table per column, `[x]` with lower and upper, `[site]` with levels
    #[arg(long, value_name = "FILE")]
    bounds: Option<PathBuf>,
    /// Bounds of a column, x=0:10, or its levels, site=a,b,c (wins over the file; may be repeated)
    #[arg(long, value_name = "COLUMN=PUBLIC")]
    bound: Vec<String>,
    /// dp-hmc, dp-penalty, dp-sgld or dp-sgnht: `organza methods` explains them; auto takes the one that promises the most effective draws
    #[arg(long, default_value = AUTO)]
    method: String,
    /// Spend the budget even if the plan promises fewer than 100 effective draws
    #[arg(long)]
    allow_few_draws: bool,
    /// Privacy loss of all chains and their warm-up together
    #[arg(long, allow_negative_numbers = true)]
    epsilon: f64,
    /// Probability beyond epsilon; choose it well below one over the number of records
    #[arg(long)]
    delta: f64,
    /// Standard deviation of the coefficients' priors, in units of the bounds' half-widths
    #[arg(long, value_name = "SD", default_value_t = 2.5)]
    prior_sd: f64,
    #[command(flatten)]
    tuning: TuningArguments,
    /// Chains
    #[arg(long, default_value_t = 4)]
    chains: usize,
    /// Seed of proposals; the noise has none, so two runs differ all the same
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Threads; 0 is one for each core
    #[arg(long, default_value_t = 0, value_parser = super::read_arguments::threads)]
    threads: usize,
    /// Mass of the intervals
    #[arg(long, default_value_t = 0.95)]
    mass: f64,
    #[command(flatten)]
    beside: BesideTable,
    /// Folder for draws, summary and settings
    #[arg(short, long, value_name = "FOLDER", required_unless_present_any = ["dry_run", "rehearse"])]
    output: Option<PathBuf>,
    /// Replace an existing fit
    #[arg(long)]
    force: bool,
    /// Ask nothing of the records but their number; print the plan and its cost
    #[arg(long)]
    dry_run: bool,
    /// Try step sizes, leapfrog steps and clip bounds on so many made-up tables, at no privacy cost
    #[arg(long, value_name = "TABLES", conflicts_with = "dry_run")]
    rehearse: Option<usize>,
    /// Number of records, for a dry run or a rehearsal without a table
    #[arg(long, value_name = "N", conflicts_with = "output")]
    records: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Choices by hand; what is left out follows from the budget.
#[derive(Args, Debug)]
struct TuningArguments {
    /// Steps of each chain, warm-up included [default: by method]
    #[arg(long, help_heading = TUNING)]
    steps: Option<usize>,
    /// Steps of each chain that are not kept; they are paid for [default: a fifth]
    #[arg(long, help_heading = TUNING)]
    warmup: Option<usize>,
    /// Noisy gradient steps to the start of all chains; 0 starts at a public guess [default: by method]
    #[arg(long, help_heading = TUNING)]
    pilot_steps: Option<usize>,
    /// Step size in normalised units [default: by budget]
    #[arg(long, help_heading = TUNING)]
    step_size: Option<f64>,
    /// Leapfrog steps of a proposal of dp-hmc
    #[arg(long, help_heading = TUNING)]
    leapfrog_steps: Option<usize>,
    /// Largest norm of a record's gradient
    #[arg(long, help_heading = TUNING)]
    gradient_clip: Option<f64>,
    /// Largest log ratio of a record over the distance
    #[arg(long, help_heading = TUNING)]
    ratio_clip: Option<f64>,
    /// Probability with which a record is in a step's sample, for dp-sgld and dp-sgnht
    #[arg(long, help_heading = TUNING)]
    rate: Option<f64>,
    /// Friction of dp-sgnht to start from
    #[arg(long, help_heading = TUNING)]
    friction: Option<f64>,
    /// Noise of a step of dp-sgld
    #[arg(long, value_enum, help_heading = TUNING)]
    langevin: Option<LangevinName>,
    /// How dp-penalty proposes
    #[arg(long, value_enum, help_heading = TUNING)]
    walk: Option<WalkName>,
}

const TUNING: &str = "Tuning by hand";
/// The method is chosen by the plan.
const AUTO: &str = "auto";

#[derive(ValueEnum, Debug, Clone, Copy)]
enum LangevinName {
    /// Variance 2e, as the dynamics need it
    Right,
    /// Variance e, as in the published code
    Published,
}

#[derive(ValueEnum, Debug, Clone, Copy)]
enum WalkName {
    /// All coordinates at once
    All,
    /// One coordinate at a time
    OneComponent,
    /// One coordinate at a time, onwards until a rejection
    Guided,
}

pub fn run(arguments: &SampleArguments) -> Result<Status, Failure> {
    fit::listen();
    let chains = arguments.chains()?;
    if !arguments.dry_run && arguments.rehearse.is_none() {
        return arguments.carry_out(&chains);
    }
    let plan = chains.plan(arguments.count(&chains)?)?;
    match arguments.rehearse {
        Some(data_sets) => {
            let rehearsal = Rehearsal { design: &chains.design, request: &plan.request, data_sets };
            arguments.try_out(&rehearsal, &plan)
        }
        None => arguments.explain(&chains, &plan),
    }
}

impl SampleArguments {
    /// The job; without a table only its plan is of use.
    fn chains(&self) -> Result<PrivateChains, Failure> {
        // A method that does not exist is said before anything else is done.
        let method = if self.method == AUTO { None } else { Some(self.method.parse()?) };
        let formula: Formula = self.formula.parse().map_err(Failure::bad_input)?;
        let bounds = read_bounds(self.bounds.as_deref(), &self.bound)?;
        let design = ChainDesign::new(self.model.parse()?, formula, bounds, self.prior_sd)?;
        let table = self.beside.on_any(self.table.as_deref())?;
        Ok(PrivateChains {
            method,
            chains: self.chains,
            seed: self.seed,
            threads: self.threads,
            tuning: self.tuning.tuning(),
            mass: self.mass,
            allow_few_draws: self.allow_few_draws,
            output: self.output.clone(),
            overwrite: self.force,
            ..PrivateChains::new(table, design, self.epsilon, self.delta)
        })
    }

    /// Number of records, as it was said or as the table has it.
    fn count(&self, chains: &PrivateChains) -> Result<u64, Failure> {
        match self.records {
            Some(0) => Err(Failure::bad_input("--records: must be at least 1")),
            Some(records) => Ok(records),
            None => self.read(|bar| chains.count(bar)),
        }
    }

    /// Reads the table with a progress bar.
    fn read<T>(&self, work: impl FnOnce(&Bar) -> Result<T, organza::Error>) -> Result<T, Failure> {
        let bar = Bar::new(self.json);
        let result = work(&bar);
        bar.finish();
        Ok(result?)
    }

    fn explain(&self, chains: &PrivateChains, plan: &ChainPlan) -> Result<Status, Failure> {
        let charge = chains.charge(plan)?;
        let preview = self.beside.preview(self.table.as_deref(), &charge)?;
        if self.json {
            print_json(&plan_json(plan, &charge, preview.as_ref()))?;
        } else {
            print_text(&explain_plan(&chains.design, plan, &charge, preview.as_ref()))?;
            if let Some(few) = few_draws(plan.effective_draws()) {
                say(&few);
            }
        }
        Ok(Status::Fine)
    }

    fn try_out(&self, rehearsal: &Rehearsal<'_>, plan: &ChainPlan) -> Result<Status, Failure> {
        let trials = fit::watch(&plan.run, self.json, |monitor| rehearse(rehearsal, monitor))?;
        if self.json {
            print_json(&trials_json(rehearsal.request.records, &trials))?;
            return Ok(Status::Fine);
        }
        print_text(&format!("{}\n{}", plan.request.method, trials_table(&trials)))?;
        if let Some(few) = trials.first().and_then(|trial| few_draws(trial.effective)) {
            say(&few);
        }
        if rehearsal.request.records > MOST_RECORDS {
            say(&format!(
                "rehearsed with {MOST_RECORDS} records and noise in proportion; step sizes are for {}",
                rehearsal.request.records
            ));
        }
        Ok(Status::Fine)
    }

    fn carry_out(&self, chains: &PrivateChains) -> Result<Status, Failure> {
        let ready = self.read(|bar| chains.prepare(bar))?;
        if self.beside.no_ledger {
            warn(NO_LEDGER);
        }
        let run = ready.plan().run;
        let fit = fit::watch(&run, self.json, |monitor| ready.run(monitor))?;
        let warnings = fit.warnings();
        if self.json {
            print_json(&fit)?;
        } else {
            print_text(&table_of(&fit))?;
            fit.notes().iter().chain(&warnings).for_each(|text| warn(text));
            fit.paid.iter().for_each(|paid| say(&spent(&paid.path, &paid.account, &paid.outcome, "run")));
            if let Some(path) = &chains.output {
                say(&format!("draws, summary and settings are in {}", path.display()));
            }
        }
        Ok(if warnings.is_empty() { Status::Fine } else { Status::CheckFailed })
    }
}

impl TuningArguments {
    fn tuning(&self) -> Tuning {
        Tuning {
            steps: self.steps,
            warmup: self.warmup,
            pilot_steps: self.pilot_steps,
            leapfrog_steps: self.leapfrog_steps,
            step_size: self.step_size,
            gradient_clip: self.gradient_clip,
            ratio_clip: self.ratio_clip,
            rate: self.rate,
            friction: self.friction,
            langevin: self.langevin.map(|name| match name {
                LangevinName::Right => Langevin::Right,
                LangevinName::Published => Langevin::Published,
            }),
            walk: self.walk.map(|name| match name {
                WalkName::All => Walk::All,
                WalkName::OneComponent => Walk::OneComponent,
                WalkName::Guided => Walk::Guided,
            }),
        }
    }
}
