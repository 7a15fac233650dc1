//! `organza demo`: three simulated hospitals publish what is safe to publish, and an analyst combines it.

use std::path::{Path, PathBuf};

use clap::Args;
use organza_curator::bounds::Bounds;
use organza_curator::formula::Formula;
use organza_curator::job::Job;
use organza_curator::ledger::Account;
use organza_curator::mechanism::Request;
use organza_curator::table::{Input, ReadOptions};
use organza_infer::{Fit, MethodSpec, ModelSpec};
use organza_mcmc::Plan as McmcPlan;
use organza_mcmc::diagnostics::Interval;
use organza_release::{Release, shell_word};
use organza_studies::simulation::{Simulation, Truth};
use serde_json::json;

use super::failure::{Failure, Status};
use super::sources::Sources;
use super::terminal::{Bar, print_json, print_text, short, table, warn};
use super::{fit, inspect, studies::simulate};
use organza::fit_folder::{FitFolder, Settings};

/// Loss of each hospital's release.
const EPSILON: f64 = 1.0;
const DELTA: f64 = 1e-6;

#[derive(Args, Debug)]
pub struct DemoArguments {
    /// Folder for tables, bounds, releases and ledgers; a new temporary one by default
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Records of each hospital
    #[arg(long, default_value_t = 5_000)]
    records: usize,
    /// Seed of the simulated records (the noise of the releases has none)
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &DemoArguments) -> Result<Status, Failure> {
    if arguments.records == 0 {
        return Err(Failure::bad_input("--records must be positive"));
    }
    let folder = match &arguments.output {
        Some(folder) => folder.clone(),
        None => tempfile::Builder::new().prefix("organza-demo-").tempdir().map_err(Failure::failed)?.keep(),
    };
    let simulation = Simulation {
        parties: ["north", "east", "south"].map(String::from).to_vec(),
        features: ["age", "severity", "dose"].map(String::from).to_vec(),
        response: "recovery".into(),
        records: arguments.records,
        sigma: 2.0,
        seed: arguments.seed,
    };
    let simulated = simulation.run();
    simulate::write(&simulated, &folder, false)?;
    let mut releases = Vec::new();
    for party in &simulation.parties {
        releases.push(publish(&folder, party, &simulated.truth.formula, &simulated.bounds)?);
    }
    let (fitted, status) = analyse(&folder, &releases, arguments.json)?;
    if arguments.json {
        let files: Vec<&String> = releases.iter().map(|(file, _)| file).collect();
        print_json(
            &json!({ "folder": folder.display().to_string(), "truth": simulated.truth, "releases": files,
                "fit": fitted }),
        )?;
        return Ok(status);
    }
    print_text(&story(&folder, &simulated.truth, &releases, &fitted))?;
    fitted.summary.warnings().iter().for_each(|warning| warn(warning));
    Ok(status)
}

/// The analyst: fits the releases and keeps the result beside them.
fn analyse(folder: &Path, releases: &[(String, Release)], quiet: bool) -> Result<(Fit, Status), Failure> {
    let mut settings = Settings::new(MethodSpec::default(), ModelSpec::default(), McmcPlan::default());
    settings.releases = releases.iter().map(|(file, _)| folder.join(file).display().to_string()).collect();
    let destination = FitFolder::create(&folder.join("fit"), false)?;
    let fitted = fit::fit(&settings, &Sources::read(&settings.releases)?, quiet)?;
    settings.keep_choices(&fitted);
    destination.finish(&fitted.draws, &fitted, &settings)?;
    let sound = fitted.summary.warnings().is_empty();
    Ok((fitted, if sound { Status::Fine } else { Status::CheckFailed }))
}

/// One hospital, on its own: plan, read, charge, publish.
fn publish(folder: &Path, party: &str, formula: &str, bounds: &str) -> Result<(String, Release), Failure> {
    let formula: Formula = formula.parse().map_err(Failure::bad_input)?;
    let bounds = Bounds::from_toml(bounds, "bounds.toml").map_err(Failure::bad_input)?;
    let table = folder.join(format!("{party}.csv"));
    let output = folder.join(format!("{party}.release.json"));
    let job = Job {
        ledger: Some((folder.join(format!("{party}.csv.ledger")), Account::new(party, party))),
        allow_weak_guarantee: false,
        input: Input::File(table),
        options: ReadOptions::default(),
        party: party.to_string(),
        output: output.clone(),
        overwrite: false,
        batch_rows: None,
    };
    let bar = Bar::new(false);
    let plan = job.plan(&Request::new(formula, bounds, EPSILON, DELTA), &());
    let outcome = plan.and_then(|plan| job.run(&plan, &bar));
    bar.finish();
    Ok((format!("{party}.release.json"), outcome?.release))
}

/// Truth beside the posterior, in users' units.
fn posterior(truth: &Truth, fit: &Fit) -> String {
    let beta = |name: &str| format!("beta[{name}]");
    let coefficients = truth.coefficients.iter().map(|(name, value)| (beta(name), *value));
    let known = std::iter::once((beta("intercept"), truth.intercept)).chain(coefficients);
    let known: Vec<(String, f64)> = known.chain([("sigma".to_string(), truth.sigma)]).collect();
    let rows = known.iter().filter_map(|(name, value)| {
        let row = fit.summary.parameters.iter().find(|row| row.name == *name)?;
        let Interval { lower, upper } = row.highest_density;
        let inside = if (lower..=upper).contains(value) { "yes" } else { "no" };
        Some(vec![name.clone(), short(*value), short(row.mean), short(lower), short(upper), inside.into()])
    });
    table(&["", "truth", "posterior mean", "95% interval", "", "holds the truth"], rows)
}

fn story(folder: &Path, truth: &Truth, releases: &[(String, Release)], fit: &Fit) -> String {
    let inside = |name: &str| shell_word(&folder.join(name).display().to_string());
    format!(
        "Three hospitals hold tables that they may not share: {folder}/{{north,east,south}}.csv\n\
         Each published noisy sums for the regression  {formula}\n\n{overview}\n\
         What an analyst learns from the three releases alone:\n\n{fitted}\n\
         The tables were simulated, so the truth is known:\n{posterior}\n\
         Look inside:   organza inspect {release}\n\
         See the books: organza ledger show {ledger}\n\
         Predict:       organza predict {fit} {table} -o predictions.csv\n",
        folder = folder.display(),
        formula = truth.formula,
        overview = inspect::overview(releases),
        fitted = fit::report::table_of(fit),
        posterior = posterior(truth, fit),
        release = inside("north.release.json"),
        ledger = inside("north.csv.ledger"),
        fit = inside("fit"),
        table = inside("north.csv"),
    )
}
