//! `organza predict`: the posterior predictive distribution of new records.

use std::fs::File;
use std::path::{Path, PathBuf};

use clap::Args;
use organza_curator::CuratorError;
use organza_curator::bounds::{Bounds, ColumnBounds};
use organza_curator::formula::{Design, Formula, Workspace};
use organza_curator::output::{PREDICTIONS_BEGIN, PendingFile, Replace, is_same_file};
use organza_curator::table::{Event, Input, ReadOptions, Table};
use organza_infer::{Prediction, Predictor};
use organza_mcmc::files::read_parquet;
use organza_release::{Column, Domain, Missing};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde::Deserialize;
use serde_json::json;

use super::beside_table::input;
use super::failure::{Failure, Status};
use super::fit_folder::{DRAWS, SUMMARY};
use super::read_arguments::ReadArguments;
use super::terminal::{print_json, print_text, short, warn};

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

/// What a fit's summary says that prediction needs.
#[derive(Deserialize)]
struct Fitted {
    /// Of a fit by private chains only.
    #[serde(default)]
    model: Option<String>,
    residual_sd: Option<f64>,
    domain: Option<Domain>,
}

/// Records of the table as the regression sees them.
struct Records {
    /// Number of each record's row in the table; incomplete ones may be missing.
    numbers: Vec<u64>,
    /// Rows of the table.
    rows: u64,
    /// Row by row: the constant if there is one, then the features.
    features: Vec<f64>,
    width: usize,
    observed: Option<Vec<f64>>,
}

pub fn run(arguments: &PredictArguments) -> Result<Status, Failure> {
    if !(arguments.mass > 0.0 && arguments.mass < 1.0) {
        return Err(Failure::bad_input(format!("--mass: {} is not between 0 and 1", arguments.mass)));
    }
    let file = arguments.output.as_deref().map(|path| arguments.reserve(path)).transpose()?;
    let fitted: Fitted = serde_json::from_slice(&read(&arguments.fit.join(SUMMARY))?)
        .map_err(|error| unusable(&arguments.fit.join(SUMMARY), error))?;
    let domain = fitted.domain.ok_or_else(|| {
        let model = fitted.model.unwrap_or_else(|| "posterior".into());
        unusable(&arguments.fit.join(SUMMARY), format!("a {model} fit has no predictions; linear fits have"))
    })?;
    domain.validate().map_err(|error| unusable(&arguments.fit.join(SUMMARY), error))?;
    let path = arguments.fit.join(DRAWS);
    let draws = File::open(&path).map_err(|error| unusable(&path, error))?;
    let draws = read_parquet(draws).map_err(|error| unusable(&path, error))?;
    let predictor = Predictor::new(&draws, fitted.residual_sd).map_err(|error| unusable(&path, error))?;
    let records = Records::read(arguments, &domain)?;
    if records.width != predictor.coefficients() {
        return Err(unusable(&path, "the draws and the summary are of different fits"));
    }
    let predictions = records.predict(&predictor, arguments.mass);
    let text = records.as_csv(&predictions);
    let incomplete = records.rows - predictions.len() as u64;
    if incomplete > 0 {
        warn(&format!("{incomplete} of {} rows are incomplete and have no prediction", records.rows));
    }
    if arguments.scores {
        warn(SCORED);
    }
    match file {
        None => print_text(&text)?,
        Some(mut file) => {
            file.write(&text)?;
            file.finish()?;
            report(arguments, &records, &predictions)?;
        }
    }
    Ok(Status::Fine)
}

impl PredictArguments {
    /// Predictions are a function of the table's own values, so their file is no more open than the table.
    fn reserve(&self, path: &Path) -> Result<PendingFile, Failure> {
        if is_same_file(path, &self.table) {
            return Err(unusable(
                path,
                "this is the table itself, which is not replaced: choose another name",
            ));
        }
        let file = PendingFile::replacing(path, self.force.then_some(Replace::Predictions))?;
        file.as_private_as(&self.table)?;
        Ok(file)
    }
}

impl Records {
    /// Reads the table, the response only if it is asked for.
    fn read(arguments: &PredictArguments, domain: &Domain) -> Result<Self, Failure> {
        let (input, options) = (input(&arguments.table)?, arguments.read.options());
        let formula: Formula = domain.formula().parse().map_err(Failure::bad_input)?;
        let bounds = bounds(&formula, domain)?;
        let compile = if arguments.scores { Design::compile } else { Design::compile_features };
        let design = compile(&formula, &bounds).map_err(Failure::bad_input)?;
        if design.numeric_columns().is_empty() && design.categorical_columns().is_empty() {
            let text = "the fit has no feature, so all records have one prediction; --scores scores it";
            return Err(Failure::bad_input(text));
        }
        Ok(Self::read_with(&input, &design, &options, arguments.scores)?)
    }

    fn read_with(
        input: &Input,
        design: &Design,
        options: &ReadOptions,
        response: bool,
    ) -> Result<Self, CuratorError> {
        let table = Table::new(input, design, options, &());
        let (mut workspace, mut terms) = (Workspace::default(), vec![Vec::new(); design.output_columns()]);
        let (mut numbers, mut features, mut observed) = (Vec::new(), Vec::new(), Vec::new());
        // Where records may be dropped every row is a batch of its own, so that the others keep their numbers.
        let (single, mut passed) = (options.missing == Missing::Dropped, 0);
        let counts = table.for_each_batch(if single { 1 } else { u64::MAX }, &mut |event| {
            let Event::Block(block) = event else {
                passed += u64::from(single);
                return Ok(());
            };
            design.evaluate(block, &mut workspace, &mut terms)?;
            let (last, of_features) = (&terms[terms.len() - 1], &terms[..terms.len() - 1]);
            for row in 0..last.len() {
                features.extend(design.intercept().then_some(1.0));
                features.extend(of_features.iter().map(|column| column[row]));
            }
            observed.extend_from_slice(last);
            numbers.extend((passed + 1..).take(last.len()));
            passed += if single { 0 } else { last.len() as u64 };
            Ok(())
        })?;
        let width = design.features().len() + usize::from(design.intercept());
        Ok(Self { numbers, rows: counts.rows, features, width, observed: response.then_some(observed) })
    }

    fn observed(&self, row: usize) -> Option<f64> {
        self.observed.as_ref().map(|values| values[row])
    }

    fn predict(&self, predictor: &Predictor, mass: f64) -> Vec<Prediction> {
        (0..self.numbers.len())
            .into_par_iter()
            .map(|row| {
                let features = &self.features[row * self.width..(row + 1) * self.width];
                predictor.predict(features, self.observed(row), mass)
            })
            .collect()
    }

    fn as_csv(&self, predictions: &[Prediction]) -> String {
        use std::fmt::Write;
        let scored = if self.observed.is_some() { ",observed,log_density" } else { "" };
        let mut text = format!("{PREDICTIONS_BEGIN}{scored}\n");
        for (row, prediction) in predictions.iter().enumerate() {
            let Prediction { mean, sd, interval, log_density } = prediction;
            // Writing to a string cannot fail.
            let _ = write!(text, "{},{mean},{sd},{},{}", self.numbers[row], interval.lower, interval.upper);
            if let (Some(observed), Some(log_density)) = (self.observed(row), log_density) {
                let _ = write!(text, ",{observed},{log_density}");
            }
            text.push('\n');
        }
        text
    }
}

/// The public bounds of the fit; a column without any (the ball needs none) may take any value.
fn bounds(formula: &Formula, domain: &Domain) -> Result<Bounds, Failure> {
    let mut bounds = Bounds::default();
    for column in domain.columns() {
        let known = match column {
            Column::Numeric { lower, upper, .. } => ColumnBounds::Numeric { lower: *lower, upper: *upper },
            Column::Categorical { levels, .. } => ColumnBounds::Categorical { levels: levels.clone() },
        };
        bounds.insert(column.name(), known).map_err(Failure::bad_input)?;
    }
    for name in formula.columns() {
        if bounds.column(name).is_none() {
            let any = ColumnBounds::Numeric { lower: -1e100, upper: 1e100 };
            bounds.insert(name, any).map_err(Failure::bad_input)?;
        }
    }
    Ok(bounds)
}

/// What the predictions are worth, where the response is known.
fn report(
    arguments: &PredictArguments,
    records: &Records,
    predictions: &[Prediction],
) -> Result<(), Failure> {
    let count = predictions.len() as f64;
    let scores = records.observed.as_ref().map(|observed| {
        let pairs = || predictions.iter().zip(observed);
        let inside = |(p, y): &(&Prediction, &f64)| p.interval.lower <= **y && **y <= p.interval.upper;
        let squares: f64 = pairs().map(|(p, y)| (p.mean - y).powi(2)).sum();
        let density: f64 = predictions.iter().filter_map(|p| p.log_density).sum();
        ((squares / count).sqrt(), pairs().filter(inside).count() as f64 / count, density / count)
    });
    if arguments.json {
        let (error, coverage, density) =
            scores.map_or((None, None, None), |(a, b, c)| (Some(a), Some(b), Some(c)));
        return print_json(&json!({
            "rows": predictions.len(), "mass": arguments.mass,
            "root_mean_squared_error": error, "coverage": coverage, "mean_log_density": density,
        }));
    }
    let mut text = format!("{} rows predicted\n", predictions.len());
    if let Some((error, coverage, density)) = scores {
        text += &format!(
            "root mean squared error {}, {}% intervals hold {}% of the responses, mean log predictive density {}\n",
            short(error),
            short(100.0 * arguments.mass),
            short(100.0 * coverage),
            short(density)
        );
    }
    print_text(&text)
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| unusable(path, error))
}

fn unusable(path: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::bad_input(format!("{}: {error}", path.display()))
}
