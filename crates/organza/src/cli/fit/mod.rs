//! `organza fit`: from releases to a posterior.

pub mod report;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use organza_infer::tables::TableSpec;
use organza_infer::{Fit, Method, MethodSpec, ModelSpec, PriorFile, Releases, Sampler};
use organza_mcmc::{Draws, Monitor, Plan, Progress};

use super::failure::{Failure, Status};
use super::sources::Sources;
use super::terminal::{StepBar, print_json, print_text, say, short, table, warn};
use organza::fit_folder::{FitFolder, Settings};

#[derive(Args, Debug)]
pub struct FitArguments {
    /// Release files, or folders of them; a file may hold many releases
    #[arg(value_name = "RELEASE", required_unless_present = "settings")]
    releases: Vec<PathBuf>,
    /// Repeat a fit with the settings in a fit.toml (its releases too, unless others are given)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["model", "method", "sampler", "prior", "residual_sd"])]
    settings: Option<PathBuf>,
    /// Model: linear, normal, logistic, proportion, table or naive-bayes; without it the plainest that the releases allow
    #[arg(long)]
    model: Option<String>,
    /// Method for linear models, or auto: `organza methods` explains them
    #[arg(long, default_value = "auto")]
    method: String,
    /// Sampler of the method or of the model
    #[arg(long)]
    sampler: Option<String>,
    /// Prior as TOML, of a regression in users' or normalised units; weakly informative without it
    #[arg(long, value_name = "FILE")]
    prior: Option<PathBuf>,
    /// Residual standard deviation that `fast` takes for known, in the response's units
    #[arg(long, value_name = "SD")]
    residual_sd: Option<f64>,
    #[command(flatten)]
    plan: PlanArguments,
    /// Mass of the intervals
    #[arg(long)]
    mass: Option<f64>,
    /// Accept several releases of one party: they must be about different records
    #[arg(long)]
    allow_duplicates: bool,
    #[command(flatten)]
    output: Output,
}

/// Where the result goes.
#[derive(Args, Debug)]
pub struct Output {
    /// Folder for draws, summary and settings; without it the result is only printed
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Replace an existing fit
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// How much to run.
#[derive(Args, Debug)]
pub struct PlanArguments {
    /// Chains [default: 4]
    #[arg(long)]
    chains: Option<usize>,
    /// Steps of warm-up of each chain [default: 1000; 0 for independent draws; 5000 for metropolis, gibbs, dense and plain; 2000 for
    /// interweaving]
    #[arg(long)]
    warmup: Option<usize>,
    /// Draws to keep of each chain [default: 1000]
    #[arg(long)]
    draws: Option<usize>,
    /// Steps for each draw [default: 1; 20 for metropolis, gibbs, dense and plain; 5 for interweaving]
    #[arg(long)]
    thin: Option<usize>,
    /// Same seed, same draws, on any number of threads [default: 0]
    #[arg(long)]
    seed: Option<u64>,
    /// Threads; 0 is one for each core [default: 0]
    #[arg(long, value_parser = super::read_arguments::threads)]
    threads: Option<usize>,
}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

pub fn run(arguments: &FitArguments) -> Result<Status, Failure> {
    listen();
    let mut settings = arguments.settings()?;
    let mut sources = Sources::read(&settings.releases)?;
    sources.prior =
        arguments.prior.as_ref().or(arguments.settings.as_ref()).map(|path| path.display().to_string());
    if let Some(path) = &arguments.prior {
        read_prior(path, &mut settings.model, sources.releases())?;
    }
    if arguments.settings.is_none() {
        let model = sources.releases().model(settings.model.model).map_err(|error| sources.explain(error))?;
        settings.plan = settings.method.usual_plan(model);
    }
    settings.plan = arguments.plan.on(settings.plan)?;
    if settings.method.method == Some(Method::AdaSsp) {
        return estimate(&arguments.output, &sources);
    }
    complete(&mut settings, &sources, &arguments.output)
}

/// Fits, keeps and prints.
fn complete(settings: &mut Settings, sources: &Sources, output: &Output) -> Result<Status, Failure> {
    let folder = output.folder()?;
    let fitted = fit(settings, sources, output.json)?;
    settings.keep_choices(&fitted);
    if let Some(folder) = folder {
        folder.finish(&fitted.draws, &fitted, settings)?;
    }
    if output.json {
        print_json(&fitted)?;
    } else {
        print_text(&report::table_of(&fitted))?;
        fitted.notes.iter().chain(&fitted.summary.warnings()).for_each(|note| warn(note));
        output.say_where();
    }
    Ok(if fitted.summary.warnings().is_empty() { Status::Fine } else { Status::CheckFailed })
}

impl Output {
    /// Reserves the folder before any work is done.
    pub fn folder(&self) -> Result<Option<FitFolder>, Failure> {
        self.output
            .as_deref()
            .map(|path| FitFolder::create(path, self.force).map_err(Failure::from))
            .transpose()
    }

    /// Says where the result is kept.
    pub fn say_where(&self) {
        if let Some(output) = &self.output {
            say(&format!("draws, summary and settings are in {}", output.display()));
        }
    }
}

/// The one method without draws: an estimate is printed, there is nothing else to keep.
fn estimate(output: &Output, sources: &Sources) -> Result<Status, Failure> {
    if output.output.is_some() {
        return Err(Failure::bad_input("--output: ada-ssp has no draws to keep; it prints its estimate"));
    }
    let found = organza_infer::ada_ssp(sources.sums()?).map_err(|error| sources.explain(error))?;
    if output.json {
        let values: serde_json::Map<String, serde_json::Value> = found
            .coefficients
            .iter()
            .map(|(name, value)| (format!("beta[{name}]"), (*value).into()))
            .collect();
        print_json(&serde_json::json!({
            "method": Method::AdaSsp, "releases": found.releases, "ridge": found.ridge, "estimate": values,
        }))?;
    } else {
        let rows =
            found.coefficients.iter().map(|(name, value)| vec![format!("beta[{name}]"), short(*value)]);
        print_text(&table(&["", "estimate"], rows))?;
        warn("ada-ssp is a point estimate: it says nothing of its uncertainty");
    }
    Ok(Status::Fine)
}

/// Fits with a progress bar.
pub fn fit(settings: &Settings, sources: &Sources, quiet: bool) -> Result<Fit, Failure> {
    let Settings { method, model, plan, .. } = settings;
    let work = |monitor: &Monitor<'_>| organza_infer::fit(method, model, sources.releases(), plan, monitor);
    let fitted = watch(plan, quiet, work).map_err(|error| sources.explain(error))?;
    refuse_empty(&fitted.draws)?;
    Ok(fitted)
}

/// Works with a progress bar; Ctrl-C ends the chains after their current step and keeps the draws so far.
pub fn watch<T>(plan: &Plan, quiet: bool, work: impl FnOnce(&Monitor<'_>) -> T) -> T {
    let bar = StepBar::new(plan.chains, quiet);
    let progress = |progress: Progress| bar.update(progress.chain, progress.step, progress.steps);
    let result = work(&Monitor { interrupted: Some(&INTERRUPTED), progress: Some(&progress) });
    bar.finish();
    result
}

/// A run that was stopped before its first draw has nothing to say.
pub fn refuse_empty(draws: &Draws) -> Result<(), Failure> {
    if INTERRUPTED.load(Ordering::SeqCst) && draws.total() == 0 {
        return Err(Failure::failed("interrupted before the first draw: nothing is kept"));
    }
    Ok(())
}

/// What Ctrl-C sets.
pub fn interruption() -> &'static AtomicBool {
    &INTERRUPTED
}

/// From now on Ctrl-C ends chains after their current step.
pub fn listen() {
    // A second call in one process finds the handler set, which is as good.
    let _ = ctrlc::set_handler(|| {
        // The second Ctrl-C does not wait for a step.
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    });
}

impl FitArguments {
    /// Plain validated settings: from the flags, or from a file with the flags on top.
    fn settings(&self) -> Result<Settings, Failure> {
        let mut settings = match &self.settings {
            Some(path) => Settings::read(path)?,
            None => {
                let model = self.model.as_deref().map(str::parse).transpose().map_err(Failure::bad_input)?;
                let model = ModelSpec { model, residual_sd: self.residual_sd, ..ModelSpec::default() };
                Settings::new(self.method()?, model, Plan::default())
            }
        };
        if !self.releases.is_empty() {
            settings.releases = self.releases.iter().map(|path| path.display().to_string()).collect();
        }
        settings.model.allow_duplicates |= self.allow_duplicates;
        if let Some(mass) = self.mass {
            settings.model.mass = mass;
        }
        Ok(settings)
    }

    fn method(&self) -> Result<MethodSpec, Failure> {
        let method = match self.method.as_str() {
            "auto" => None,
            word => Some(word.parse::<Method>().map_err(Failure::bad_input)?),
        };
        let sampler = self.sampler.as_deref().map(str::parse::<Sampler>).transpose();
        Ok(MethodSpec { method, sampler: sampler.map_err(Failure::bad_input)? })
    }
}

impl PlanArguments {
    /// The plan with what was asked for on top.
    pub fn on(&self, plan: Plan) -> Result<Plan, Failure> {
        if self.draws == Some(0) || self.chains == Some(0) {
            return Err(Failure::bad_input("--draws and --chains must be at least 1"));
        }
        Ok(Plan {
            chains: self.chains.unwrap_or(plan.chains),
            warmup: self.warmup.unwrap_or(plan.warmup),
            draws: self.draws.unwrap_or(plan.draws),
            thin: self.thin.unwrap_or(plan.thin),
            seed: self.seed.unwrap_or(plan.seed),
            threads: self.threads.unwrap_or(plan.threads),
        })
    }
}

/// Reads a prior of the kind that these releases have.
fn read_prior(path: &Path, model: &mut ModelSpec, releases: Releases<'_>) -> Result<(), Failure> {
    let name = path.display();
    let fail = |error: &dyn std::fmt::Display| Failure::bad_input(format!("{name}: {error}"));
    let text = std::fs::read_to_string(path).map_err(|error| fail(&error))?;
    match releases {
        Releases::Sums(_) => model.prior = PriorFile::from_toml(&text).map_err(|error| fail(&error))?,
        _ => model.tables = TableSpec::from_toml(&text).map_err(|error| fail(&error))?,
    }
    Ok(())
}
