//! `organza simulate`: synthetic parties with a known truth.

use std::path::{Path, PathBuf};

use clap::Args;
use organza_curator::output::{PendingFile, Replace};
use organza_studies::simulation::{Simulated, Simulation};
use serde_json::json;

use crate::cli::failure::{Failure, Status};
use crate::cli::terminal::{print_json, say};

#[derive(Args, Debug)]
pub struct SimulateArguments {
    /// Folder for the tables, bounds.toml and truth.json
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// Number of parties
    #[arg(long, default_value_t = 3)]
    parties: usize,
    /// Records of each party
    #[arg(long, default_value_t = 2_000)]
    records: usize,
    /// Number of features
    #[arg(long, default_value_t = 3)]
    features: usize,
    /// Standard deviation of the residuals
    #[arg(long, default_value_t = 1.0)]
    sigma: f64,
    /// Same seed, same tables
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Replace existing files
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &SimulateArguments) -> Result<Status, Failure> {
    let positive = arguments.sigma.is_finite() && arguments.sigma > 0.0;
    if !positive || arguments.parties == 0 || arguments.records == 0 || arguments.features == 0 {
        return Err(Failure::bad_input("--parties, --records, --features and --sigma must be positive"));
    }
    let simulation = Simulation {
        parties: (1..=arguments.parties).map(|number| format!("party{number}")).collect(),
        features: (1..=arguments.features).map(|number| format!("x{number}")).collect(),
        response: "y".into(),
        records: arguments.records,
        sigma: arguments.sigma,
        seed: arguments.seed,
    };
    let simulated = simulation.run();
    let files = write(&simulated, &arguments.output, arguments.force)?;
    if arguments.json {
        let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
        print_json(&json!({ "files": names, "truth": simulated.truth }))?;
    } else {
        for file in files {
            say(&format!("{}", file.display()));
        }
    }
    Ok(Status::Fine)
}

/// Writes tables, bounds and truth into a folder.
pub fn write(simulated: &Simulated, folder: &Path, overwrite: bool) -> Result<Vec<PathBuf>, Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::failed(format!("{}: {error}", folder.display())))?;
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    for (party, table) in &simulated.tables {
        files.push((folder.join(format!("{party}.csv")), table.clone()));
    }
    files.push((folder.join("bounds.toml"), simulated.bounds.clone()));
    files.push((folder.join("truth.json"), serde_json::to_string_pretty(&simulated.truth)? + "\n"));
    // A real table looks like a simulated one: only a folder with a truth holds simulated ones.
    if overwrite && !folder.join("truth.json").exists() && files.iter().any(|(path, _)| path.exists()) {
        let text =
            "holds no truth.json, so its tables were not simulated: not replaced, choose another folder";
        return Err(Failure::bad_input(format!("{}: {text}", folder.display())));
    }
    // All destinations are reserved before the first is written.
    let replace = overwrite.then_some(Replace::AnyFile);
    let reserved = files.iter().map(|(path, _)| PendingFile::replacing(path, replace));
    let reserved = reserved.collect::<Result<Vec<_>, _>>()?;
    for (mut pending, (_, text)) in reserved.into_iter().zip(&files) {
        pending.write(text)?;
        pending.finish()?;
    }
    Ok(files.into_iter().map(|(path, _)| path).collect())
}
