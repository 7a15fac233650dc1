//! `organza sample`: private chains beside the table, for models of which no statistic suffices.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use organza_curator::chains::kernels::{Langevin, Walk};
use organza_curator::chains::{
    Budget, ChainDesign, ChainMethod, ChainPlan, ChainRequest, LEAST_EFFECTIVE_DRAWS, MOST_RECORDS,
    Rehearsal, Tuning, rehearse, sample,
};
use organza_curator::formula::Formula;
use organza_curator::table::Reading;
use organza_mcmc::Summary;
use organza_release::Neighbours;

use super::beside_table::{BesideTable, NO_LEDGER, spent};
use super::failure::{Failure, Status};
use super::fit;
use super::release::read_bounds;
use super::sample_report::{Report, SampleSettings, explain_plan, plan_json, trials_json, trials_table};
use super::terminal::{Bar, print_json, print_text, say, warn};
use organza::fit_folder::FitFolder;

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
    let design = arguments.design()?;
    if arguments.dry_run || arguments.rehearse.is_some() {
        let plan = arguments.plan(&design, arguments.count(&design)?)?;
        return match arguments.rehearse {
            Some(data_sets) => {
                arguments.try_out(&Rehearsal { design: &design, request: &plan.request, data_sets }, &plan)
            }
            None => arguments.explain(&design, &plan),
        };
    }
    arguments.carry_out(&design)
}

impl SampleArguments {
    fn design(&self) -> Result<ChainDesign, Failure> {
        let model = self.model.parse()?;
        // A method that does not exist is said before anything else is done.
        self.method()?;
        if !(self.mass > 0.0 && self.mass < 1.0) {
            return Err(Failure::bad_input(format!("--mass: {} is not between 0 and 1", self.mass)));
        }
        let formula: Formula = self.formula.parse().map_err(Failure::bad_input)?;
        Ok(ChainDesign::new(
            model,
            formula,
            read_bounds(self.bounds.as_deref(), &self.bound)?,
            self.prior_sd,
        )?)
    }

    /// The method that was asked for; none if the plan chooses.
    fn method(&self) -> Result<Option<ChainMethod>, Failure> {
        Ok(if self.method == AUTO { None } else { Some(self.method.parse()?) })
    }

    fn plan(&self, design: &ChainDesign, records: u64) -> Result<ChainPlan, Failure> {
        let (neighbours, method) = (Neighbours::Substitute, self.method()?);
        let request = ChainRequest {
            method: method.unwrap_or(ChainMethod::DpSgld),
            records,
            budget: Budget { epsilon: self.epsilon, delta: self.delta, neighbours },
            chains: self.chains,
            seed: self.seed,
            threads: self.threads,
            tuning: self.tuning.tuning(),
        };
        Ok(if method.is_some() {
            ChainPlan::new(design, &request)
        } else {
            ChainPlan::best(design, &request)
        }?)
    }

    /// Number of records, as it was said or as the table has it.
    fn count(&self, design: &ChainDesign) -> Result<u64, Failure> {
        match self.records {
            Some(0) => Err(Failure::bad_input("--records: must be at least 1")),
            Some(records) => Ok(records),
            None => Ok(self.read(|reading| Ok(design.count(reading)?.records))?),
        }
    }

    /// Reads the table with a progress bar.
    fn read<T>(
        &self,
        work: impl FnOnce(&Reading<'_>) -> Result<T, organza_curator::CuratorError>,
    ) -> Result<T, Failure> {
        let beside = self.beside.on(self.table.as_deref())?;
        let options = beside.recognising()?;
        let bar = Bar::new(self.json);
        let result = work(&Reading { input: &beside.input, options: &options, progress: &bar });
        bar.finish();
        Ok(result?)
    }

    fn explain(&self, design: &ChainDesign, plan: &ChainPlan) -> Result<Status, Failure> {
        let charge = plan.charge(description(design, plan))?;
        let preview = self.beside.preview(self.table.as_deref(), &charge)?;
        if self.json {
            print_json(&plan_json(plan, &charge, preview.as_ref()))?;
        } else {
            print_text(&explain_plan(design, plan, &charge, preview.as_ref()))?;
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

    fn carry_out(&self, design: &ChainDesign) -> Result<Status, Failure> {
        let path = self.output.as_deref().ok_or_else(|| Failure::bad_input("--output: name a folder"))?;
        let folder = FitFolder::create(path, self.force)?;
        self.table.iter().try_for_each(|table| folder.as_private_as(table))?;
        let (records, counts) = self.read(|reading| design.load(reading))?;
        let plan = self.plan(design, counts.records)?;
        if let Some(few) = few_draws(plan.effective_draws()).filter(|_| !self.allow_few_draws) {
            return Err(Failure::bad_input(format!(
                "{few}; nothing was asked of the records, and nothing was charged"
            )));
        }
        // Everything is charged before the first question; a bad table or a bad plan has cost nothing.
        let charge = plan.charge(description(design, &plan))?;
        let beside = self.beside.on(self.table.as_deref())?;
        let mut paid = beside.charge(&design.subject(), &charge, &counts)?;
        if paid.is_none() {
            warn(NO_LEDGER);
        }
        let drawn = fit::watch(&plan.run, self.json, |monitor| sample(design, &plan, records, monitor));
        let draws = drawn.map_err(|error| Failure::failed(format!("{error}; the charge stands")))?;
        if draws.total() == 0 {
            return Err(Failure::failed(
                "interrupted before the first draw: nothing is kept, and the charge stands",
            ));
        }
        let summary = Summary::new(&draws, self.mass).map_err(Failure::bad_input)?;
        let settings = SampleSettings::new(design, &plan, &counts);
        let report = Report { design, plan: &plan, charge: &charge, counts, draws: &draws, summary };
        folder.finish(&draws, &report.as_json(paid.as_ref().map(|paid| &paid.outcome)), &settings)?;
        paid.iter_mut().try_for_each(|paid| paid.mark_published(path))?;
        if self.json {
            print_json(&report.as_json(paid.as_ref().map(|paid| &paid.outcome)))?;
        } else {
            print_text(&report.table())?;
            report.notes().iter().chain(&report.warnings()).for_each(|text| warn(text));
            paid.iter().for_each(|paid| say(&spent(&paid.path, &paid.account, &paid.outcome, "run")));
            say(&format!("draws, summary and settings are in {}", path.display()));
        }
        Ok(if report.warnings().is_empty() { Status::Fine } else { Status::CheckFailed })
    }
}

/// What the ledger says of it.
fn description(design: &ChainDesign, plan: &ChainPlan) -> String {
    format!("{}, {} by {}", design.domain().formula, design.model(), plan.request.method)
}

/// What is said of a plan, or of a rehearsal, that is not worth its budget: the same in dry runs, rehearsals and runs.
fn few_draws(effective: f64) -> Option<String> {
    (effective < LEAST_EFFECTIVE_DRAWS).then(|| {
        format!(
            "about {effective:.0} effective draws can be expected, and fewer than {LEAST_EFFECTIVE_DRAWS} say little: a larger --epsilon, more records \
             or fewer features give more; a release and `organza fit` need far less where a statistic suffices; --allow-few-draws runs it all \
             the same"
        )
    })
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
