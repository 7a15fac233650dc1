//! `organza predict`: the posterior predictive distribution of new records.

use std::path::{Path, PathBuf};

use clap::Args;
use organza::beside_table::input;
use organza::fit_folder::SavedFit;
use organza::prediction::{Predictions, Scores};
use organza_curator::output::{PendingFile, Replace, is_same_file};
use organza_curator::table::Reading;
use serde_json::json;

use super::failure::{Failure, Status};
use super::read_arguments::ReadArguments;
use super::terminal::{Bar, print_data, print_json, print_text, short, warn};

#[derive(Args, Debug)]
pub struct PredictArguments {
    /// Folder of a fit
    #[arg(value_name = "FIT")]
    fit: PathBuf,
    /// Table of records to predict, CSV or Parquet; its response is not read unless --scores is given
    #[arg(value_name = "TABLE")]
    table: PathBuf,
    /// CSV file for one prediction per row; standard output without it
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Mass of the intervals
    #[arg(long, default_value_t = 0.95)]
    mass: f64,
    /// Read the response too, write it beside the predictions and score them: exact, not private
    #[arg(long)]
    scores: bool,
    #[command(flatten)]
    read: ReadArguments,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    /// Print the scores as JSON
    #[arg(long, requires = "output")]
    json: bool,
}

const SCORED: &str =
    "the output holds responses of the table as they are, and scores are exact: neither is private";

pub fn run(arguments: &PredictArguments) -> Result<Status, Failure> {
    let file = arguments.output.as_deref().map(|path| arguments.reserve(path)).transpose()?;
    let fit = SavedFit::open(&arguments.fit)?;
    let (input, options) = (input(&arguments.table)?, arguments.read.options());
    let bar = Bar::new(arguments.json);
    let reading = Reading { input: &input, options: &options, progress: &bar };
    let predicted = fit.predict(&reading, arguments.mass, arguments.scores);
    bar.finish();
    let predicted = predicted?;
    let incomplete = predicted.rows - predicted.predictions.len() as u64;
    if incomplete > 0 {
        warn(&format!("{incomplete} of {} rows are incomplete and have no prediction", predicted.rows));
    }
    if arguments.scores {
        warn(SCORED);
    }
    match file {
        None => print_data(&predicted.to_csv()).map(drop)?,
        Some(mut file) => {
            file.write(&predicted.to_csv())?;
            file.finish()?;
            report(&predicted, arguments.json)?;
        }
    }
    Ok(Status::Fine)
}

impl PredictArguments {
    /// Predictions are a function of the table's own values, so their file is no more open than the table.
    fn reserve(&self, path: &Path) -> Result<PendingFile, Failure> {
        if is_same_file(path, &self.table) {
            let problem = "this is the table itself, which is not replaced: choose another name";
            return Err(Failure::bad_input(format!("{}: {problem}", path.display())));
        }
        let file = PendingFile::replacing(path, self.force.then_some(Replace::Predictions))?;
        file.as_private_as(&self.table)?;
        Ok(file)
    }
}

/// What the predictions are worth, where the response is known.
fn report(predicted: &Predictions, as_json: bool) -> Result<(), Failure> {
    let (rows, mass, scores) = (predicted.predictions.len(), predicted.mass, predicted.scores());
    if as_json {
        return print_json(&json!({
            "rows": rows, "mass": mass,
            "root_mean_squared_error": scores.and_then(|scores| scores.root_mean_squared_error),
            "coverage": scores.and_then(|scores| scores.coverage),
            "mean_log_density": scores.map(|scores| scores.mean_log_density),
        }));
    }
    let mut text = format!("{rows} rows predicted\n");
    if let Some(Scores { root_mean_squared_error, coverage, mean_log_density }) = scores {
        text += &match root_mean_squared_error.zip(coverage) {
            Some((error, coverage)) => format!(
                "root mean squared error {}, {}% intervals hold {}% of the responses, mean log predictive density {}\n",
                short(error),
                short(100.0 * mass),
                short(100.0 * coverage),
                short(mean_log_density)
            ),
            None => format!("log loss {} of the level that was observed\n", short(-mean_log_density)),
        };
    }
    print_text(&text)
}
