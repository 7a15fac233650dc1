//! `organza fit`: from releases to a posterior.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use organza_infer::{Fit, InferError, Method, MethodSpec, ModelSpec, PriorFile, Sampler};
use organza_mcmc::{Monitor, Plan, Progress};
use organza_release::Release;

use super::failure::{Failure, Status};
use super::fit_folder::{FitFolder, Settings};
use super::terminal::{StepBar, print_json, print_text, say, short, table, warn};
use super::{fit_report, inspect};

#[derive(Args, Debug)]
pub struct FitArguments {
    /// Release files, or folders of them; a file may hold many releases
    #[arg(value_name = "RELEASE", required_unless_present = "settings")]
    releases: Vec<PathBuf>,
    /// Folder for draws, summary and settings; without it the result is only printed
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Repeat a fit with the settings in a fit.toml (its releases too, unless others are given)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["method", "sampler", "prior", "residual_sd"])]
    settings: Option<PathBuf>,
    /// Method, or auto: `organza methods` explains them
    #[arg(long, default_value = "auto")]
    method: String,
    /// Sampler of the method
    #[arg(long)]
    sampler: Option<String>,
    /// Prior as TOML, in users' units or normalised units; weakly informative without it
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
    /// Replace an existing fit
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How much to run.
#[derive(Args, Debug)]
struct PlanArguments {
    /// Chains [default: 4]
    #[arg(long)]
    chains: Option<usize>,
    /// Steps of warm-up of each chain [default: 1000; 0 for independent draws]
    #[arg(long)]
    warmup: Option<usize>,
    /// Draws to keep of each chain [default: 1000]
    #[arg(long)]
    draws: Option<usize>,
    /// Steps for each draw [default: 1; 10 for metropolis]
    #[arg(long)]
    thin: Option<usize>,
    /// Same seed, same draws, on any number of threads [default: 0]
    #[arg(long)]
    seed: Option<u64>,
    /// Threads; 0 is one for each core [default: 0]
    #[arg(long)]
    threads: Option<usize>,
}

/// Releases with the files they come from.
pub struct Sources {
    files: Vec<String>,
    pub releases: Vec<Release>,
    /// The file of the prior, for errors.
    prior: Option<String>,
}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

pub fn run(arguments: &FitArguments) -> Result<Status, Failure> {
    listen();
    let mut settings = arguments.settings()?;
    if arguments.plan.draws == Some(0) || arguments.plan.chains == Some(0) {
        return Err(Failure::bad_input("--draws and --chains must be at least 1"));
    }
    let folder =
        arguments.output.as_deref().map(|path| FitFolder::create(path, arguments.force)).transpose()?;
    let mut sources = Sources::read(&settings.releases)?;
    sources.prior =
        arguments.prior.as_ref().or(arguments.settings.as_ref()).map(|path| path.display().to_string());
    if settings.method.method == Some(Method::AdaSsp) {
        return estimate(arguments, &sources);
    }
    let fitted = watch(&settings, &sources, arguments.json)?;
    settings.method = MethodSpec { method: Some(fitted.method), sampler: Some(fitted.sampler) };
    if let Some(folder) = folder {
        folder.finish(&fitted, &settings)?;
    }
    if arguments.json {
        print_json(&fit_report::as_json(&fitted))?;
    } else {
        print_text(&fit_report::table_of(&fitted))?;
        fitted.notes.iter().chain(&fitted.summary.warnings()).for_each(|note| warn(note));
        if let Some(output) = &arguments.output {
            say(&format!("draws, summary and settings are in {}", output.display()));
        }
    }
    Ok(if fitted.summary.warnings().is_empty() { Status::Fine } else { Status::CheckFailed })
}

/// The one method without draws: an estimate is printed, there is nothing else to keep.
fn estimate(arguments: &FitArguments, sources: &Sources) -> Result<Status, Failure> {
    if arguments.output.is_some() {
        return Err(Failure::bad_input("--output: ada-ssp has no draws to keep; it prints its estimate"));
    }
    let found = organza_infer::ada_ssp(&sources.releases).map_err(|error| sources.explain(error))?;
    if arguments.json {
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

/// Fits with a progress bar; Ctrl-C ends the chains after their current step and keeps the draws so far.
pub fn watch(settings: &Settings, sources: &Sources, quiet: bool) -> Result<Fit, Failure> {
    let bar = StepBar::new(settings.plan.chains, quiet);
    let progress = |progress: Progress| bar.update(progress.chain, progress.step, progress.steps);
    let monitor = Monitor { interrupted: Some(&INTERRUPTED), progress: Some(&progress) };
    let fitted =
        organza_infer::fit(&settings.method, &settings.model, &sources.releases, &settings.plan, &monitor);
    bar.finish();
    if INTERRUPTED.load(Ordering::SeqCst) && fitted.as_ref().is_ok_and(|fit| fit.draws.total() == 0) {
        return Err(Failure::failed("interrupted before the first draw: nothing is kept"));
    }
    fitted.map_err(|error| sources.explain(error))
}

/// From now on Ctrl-C ends chains after their current step.
fn listen() {
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
                let (method, sampler) = self.method()?;
                let model = ModelSpec {
                    prior: self.prior.as_deref().map(read_prior).transpose()?.unwrap_or_default(),
                    residual_sd: self.residual_sd,
                    ..ModelSpec::default()
                };
                let plan = usual_plan(method, sampler);
                Settings::new(MethodSpec { method, sampler }, model, plan)
            }
        };
        if !self.releases.is_empty() {
            settings.releases = self.releases.iter().map(|path| path.display().to_string()).collect();
        }
        settings.model.allow_duplicates |= self.allow_duplicates;
        if let Some(mass) = self.mass {
            settings.model.mass = mass;
        }
        self.plan.apply(&mut settings.plan);
        Ok(settings)
    }

    fn method(&self) -> Result<(Option<Method>, Option<Sampler>), Failure> {
        let method = match self.method.as_str() {
            "auto" => None,
            word => Some(word.parse::<Method>().map_err(Failure::bad_input)?),
        };
        let sampler = self.sampler.as_deref().map(str::parse::<Sampler>).transpose();
        Ok((method, sampler.map_err(Failure::bad_input)?))
    }
}

impl PlanArguments {
    fn apply(&self, plan: &mut Plan) {
        plan.chains = self.chains.unwrap_or(plan.chains);
        plan.warmup = self.warmup.unwrap_or(plan.warmup);
        plan.draws = self.draws.unwrap_or(plan.draws);
        plan.thin = self.thin.unwrap_or(plan.thin);
        plan.seed = self.seed.unwrap_or(plan.seed);
        plan.threads = self.threads.unwrap_or(plan.threads);
    }
}

/// The plan that suits a sampler: none of the papers' chains mixes in a thousand steps.
fn usual_plan(method: Option<Method>, sampler: Option<Sampler>) -> Plan {
    let sampler = sampler.or_else(|| method.map(|method| method.samplers()[0]));
    match sampler {
        Some(sampler) if sampler.is_independent() => Plan { warmup: 0, ..Plan::default() },
        Some(Sampler::Metropolis | Sampler::Gibbs | Sampler::Dense | Sampler::Plain) => {
            Plan { warmup: 5000, thin: 20, ..Plan::default() }
        }
        Some(Sampler::Interweaving) => Plan { warmup: 2000, thin: 5, ..Plan::default() },
        _ => Plan::default(),
    }
}

fn read_prior(path: &Path) -> Result<PriorFile, Failure> {
    let name = path.display();
    let text =
        std::fs::read_to_string(path).map_err(|error| Failure::bad_input(format!("{name}: {error}")))?;
    PriorFile::from_toml(&text).map_err(|error| Failure::bad_input(format!("{name}: {error}")))
}

impl Sources {
    /// Reads files and folders in order.
    pub fn read(paths: &[String]) -> Result<Self, Failure> {
        let mut sources = Self { files: Vec::new(), releases: Vec::new(), prior: None };
        for path in paths {
            for file in files_of(Path::new(path))? {
                let found = inspect::read(&file)?;
                sources.files.extend(std::iter::repeat_n(file.display().to_string(), found.len()));
                sources.releases.extend(found);
            }
        }
        Ok(sources)
    }

    /// Says which files an error is about.
    fn explain(&self, error: InferError) -> Failure {
        let parties: Vec<&String> = match &error {
            InferError::Disagreement { first, second, .. } => vec![first, second],
            InferError::Duplicate { party } | InferError::Unsupported { party, .. } => vec![party],
            InferError::MissingEntry { party, .. } => vec![party],
            InferError::Run(_) => return Failure::failed(error),
            InferError::Prior { .. } => {
                let file = self.prior.as_ref().map_or(String::new(), |file| format!("{file}: "));
                return Failure::bad_input(format!("{file}{error}"));
            }
            _ => return Failure::bad_input(error),
        };
        let about = |index: &usize| parties.contains(&&self.releases[*index].party);
        let mut files: Vec<&str> =
            (0..self.releases.len()).filter(about).map(|index| self.files[index].as_str()).collect();
        files.dedup();
        let hint = match error {
            InferError::Duplicate { .. } => "; if they are about different records, say --allow-duplicates",
            _ => "",
        };
        Failure::bad_input(format!("{error}{hint} ({})", files.join(", ")))
    }
}

/// The release files of a folder in the order of their names, or the file itself.
fn files_of(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let fail = |error: std::io::Error| Failure::bad_input(format!("{}: {error}", path.display()));
    let entries = std::fs::read_dir(path).map_err(fail)?.collect::<Result<Vec<_>, _>>().map_err(fail)?;
    let json = |path: &PathBuf| path.extension().is_some_and(|end| end == "json" || end == "jsonl");
    let mut files: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).filter(json).collect();
    files.sort();
    if files.is_empty() {
        return Err(Failure::bad_input(format!("{}: there is no .json file in this folder", path.display())));
    }
    Ok(files)
}
