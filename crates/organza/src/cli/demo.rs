//! `organza demo`: three simulated hospitals publish what is safe to publish, and an analyst combines it.

use std::path::{Path, PathBuf};

use clap::Args;
use organza_curator::bounds::Bounds;
use organza_curator::formula::Formula;
use organza_curator::job::Job;
use organza_curator::ledger::Account;
use organza_curator::mechanism::{Plan, Request};
use organza_curator::table::{Input, ReadOptions};
use organza_infer::{Evidence, FixedGram, Prior};
use organza_release::Release;
use organza_release::units::CoefficientMap;
use serde_json::json;

use super::failure::{Failure, Status};
use super::simulation::{Simulation, Truth};
use super::terminal::{Bar, print_json, print_text, short, table};
use super::{inspect, simulate};

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
    if arguments.json {
        let files: Vec<&String> = releases.iter().map(|(file, _)| file).collect();
        print_json(
            &json!({ "folder": folder.display().to_string(), "truth": simulated.truth, "releases": files }),
        )?;
        return Ok(Status::Fine);
    }
    print_text(&story(&folder, &simulated.truth, &releases)?)?;
    Ok(Status::Fine)
}

/// One hospital, on its own: plan, read, charge, publish.
fn publish(folder: &Path, party: &str, formula: &str, bounds: &str) -> Result<(String, Release), Failure> {
    let formula: Formula = formula.parse().map_err(Failure::bad_input)?;
    let bounds = Bounds::from_toml(bounds, "bounds.toml").map_err(Failure::bad_input)?;
    let plan = Plan::new(&Request::new(formula, bounds, EPSILON, DELTA))?;
    let table = folder.join(format!("{party}.csv"));
    let output = folder.join(format!("{party}.release.json"));
    let job = Job {
        ledger: Some((folder.join(format!("{party}.csv.ledger")), Account::new(party, party))),
        input: Input::File(table),
        options: ReadOptions::default(),
        party: party.to_string(),
        output: output.clone(),
        overwrite: false,
        batch_rows: None,
    };
    let bar = Bar::new(false);
    let outcome = job.run(&plan, &bar);
    bar.finish();
    Ok((format!("{party}.release.json"), outcome?.release))
}

/// Truth beside the posterior of the coefficients, in users' units.
fn posterior(truth: &Truth, releases: &[(String, Release)]) -> Result<String, Failure> {
    let releases: Vec<Release> = releases.iter().map(|(_, release)| release.clone()).collect();
    let evidence = Evidence::new(&releases).map_err(Failure::failed)?;
    let prior = Prior::weak(evidence.dimension());
    let fitted = FixedGram::new(&evidence, &prior).map_err(Failure::failed)?.coefficients();
    let fitted = fitted.to_users(&CoefficientMap::new(evidence.domain()));
    let names = std::iter::once(("(intercept)", truth.intercept));
    let names = names.chain(truth.coefficients.iter().map(|(name, value)| (name.as_str(), *value)));
    let rows = names.enumerate().map(|(index, (name, value))| {
        vec![name.to_string(), short(value), short(fitted.mean[index]), short(fitted.sd(index))]
    });
    Ok(table(&["coefficient", "truth", "posterior mean", "posterior sd"], rows))
}

fn story(folder: &Path, truth: &Truth, releases: &[(String, Release)]) -> Result<String, Failure> {
    Ok(format!(
        "Three hospitals hold tables that they may not share: {folder}/{{north,east,south}}.csv\n\
         Each published noisy sums for the regression  {formula}\n\n{overview}\n\
         What an analyst learns from the three releases alone (method fixed-gram, which takes the noisy X'X for the true one):\n\
         {posterior}\n\
         Look inside:   organza inspect {folder}/north.release.json\n\
         See the books: organza ledger show {folder}/north.csv.ledger\n",
        folder = folder.display(),
        formula = truth.formula,
        overview = inspect::overview(releases),
        posterior = posterior(truth, releases)?,
    ))
}
