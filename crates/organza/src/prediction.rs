//! Predictions for the records of a table.

use organza_curator::CuratorError;
use organza_curator::bounds::{Bounds, ColumnBounds};
use organza_curator::formula::{Design, Formula, Workspace};
use organza_curator::output::PREDICTIONS_BEGIN;
use organza_curator::table::{Event, Reading, Table};
use organza_infer::{Model, Prediction};
use organza_release::{Column, Domain, Missing};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde::Serialize;

use crate::Error;
use crate::fit_folder::SavedFit;

/// Predictions for a table, one for each complete record.
#[derive(Debug, Clone, PartialEq)]
pub struct Predictions {
    /// What the fit's model predicts: numbers, or of a logistic one probabilities of the upper level.
    pub model: Model,
    /// Mass of the intervals.
    pub mass: f64,
    /// Rows of the table.
    pub rows: u64,
    /// Number of each record's row in the table; incomplete ones may be missing.
    pub numbers: Vec<u64>,
    /// One for each number.
    pub predictions: Vec<Prediction>,
    /// The responses of the table as they are, if they were asked for: not private.
    pub observed: Option<Vec<f64>>,
}

/// What predictions are worth where the response is known: exact numbers of the table, not private.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Scores {
    /// Root of the mean squared error of the predictive means; none of a logistic fit.
    pub root_mean_squared_error: Option<f64>,
    /// Share of the responses that the intervals hold; none of a logistic fit, whose intervals are about probabilities.
    pub coverage: Option<f64>,
    /// Mean log predictive density; of a logistic fit the negative log loss.
    pub mean_log_density: f64,
}

impl SavedFit {
    /// Reads a table and predicts its records; the response is read only if it is asked for.
    pub fn predict(
        &self,
        reading: &Reading<'_>,
        mass: f64,
        read_response: bool,
    ) -> Result<Predictions, Error> {
        if !(mass > 0.0 && mass < 1.0) {
            return Err(CuratorError::setting("mass", format!("{mass} is not between 0 and 1")).into());
        }
        let formula: Formula = self.domain.formula().parse().map_err(CuratorError::from)?;
        let bounds = bounds(&formula, &self.domain)?;
        let compile = if read_response { Design::compile } else { Design::compile_features };
        let design = compile(&formula, &bounds).map_err(CuratorError::from)?;
        if design.numeric_columns().is_empty() && design.categorical_columns().is_empty() {
            let text =
                "the fit has no feature, so all records have one prediction; ask for scores to score it";
            return Err(CuratorError::setting("table", text).into());
        }
        let records = Records::read(reading, &design)?;
        let observed = read_response.then_some(records.last);
        let predict = |row: usize| {
            let features = &records.features[row * records.width..(row + 1) * records.width];
            self.predictor.predict(features, observed.as_ref().map(|values| values[row]), mass)
        };
        let predictions = (0..records.numbers.len()).into_par_iter().map(predict).collect();
        let model = self.model;
        Ok(Predictions { model, mass, rows: records.rows, numbers: records.numbers, predictions, observed })
    }
}

impl Predictions {
    /// As a table of CSV: with the responses if they were read.
    pub fn to_csv(&self) -> String {
        use std::fmt::Write;
        let scored = if self.observed.is_some() { ",observed,log_density" } else { "" };
        let mut text = format!("{PREDICTIONS_BEGIN}{scored}\n");
        for (row, prediction) in self.predictions.iter().enumerate() {
            let Prediction { mean, sd, interval, log_density } = prediction;
            // Writing to a string cannot fail.
            let _ = write!(text, "{},{mean},{sd},{},{}", self.numbers[row], interval.lower, interval.upper);
            if let (Some(observed), Some(log_density)) = (&self.observed, log_density) {
                let _ = write!(text, ",{},{log_density}", observed[row]);
            }
            text.push('\n');
        }
        text
    }

    /// What they are worth; none if the responses were not read.
    pub fn scores(&self) -> Option<Scores> {
        let observed = self.observed.as_ref()?;
        let (count, number) = (self.predictions.len() as f64, self.model != Model::Logistic);
        let pairs = || self.predictions.iter().zip(observed);
        let inside = |(p, y): &(&Prediction, &f64)| p.interval.lower <= **y && **y <= p.interval.upper;
        let squares: f64 = pairs().map(|(p, y)| (p.mean - y).powi(2)).sum();
        let density: f64 = self.predictions.iter().filter_map(|p| p.log_density).sum();
        Some(Scores {
            root_mean_squared_error: number.then(|| (squares / count).sqrt()),
            coverage: number.then(|| pairs().filter(inside).count() as f64 / count),
            mean_log_density: density / count,
        })
    }
}

/// Records of the table as the regression sees them.
struct Records {
    numbers: Vec<u64>,
    rows: u64,
    /// Row by row: the constant if there is one, then the features.
    features: Vec<f64>,
    width: usize,
    /// The design's last column: the response, where it is read.
    last: Vec<f64>,
}

impl Records {
    fn read(reading: &Reading<'_>, design: &Design) -> Result<Self, CuratorError> {
        let table = Table::new(reading.input, design, reading.options, reading.progress);
        let (mut workspace, mut terms) = (Workspace::default(), vec![Vec::new(); design.output_columns()]);
        let (mut numbers, mut features, mut last) = (Vec::new(), Vec::new(), Vec::new());
        // Where records may be dropped every row is a batch of its own, so that the others keep their numbers.
        let (single, mut passed) = (reading.options.missing == Missing::Dropped, 0);
        let counts = table.for_each_batch(if single { 1 } else { u64::MAX }, &mut |event| {
            let Event::Block(block) = event else {
                passed += u64::from(single);
                return Ok(());
            };
            design.evaluate(block, &mut workspace, &mut terms)?;
            let (response, of_features) = (&terms[terms.len() - 1], &terms[..terms.len() - 1]);
            for row in 0..response.len() {
                features.extend(design.intercept().then_some(1.0));
                features.extend(of_features.iter().map(|column| column[row]));
            }
            last.extend_from_slice(response);
            numbers.extend((passed + 1..).take(response.len()));
            passed += if single { 0 } else { response.len() as u64 };
            Ok(())
        })?;
        let width = design.features().len() + usize::from(design.intercept());
        Ok(Self { numbers, rows: counts.rows, features, width, last })
    }
}

/// The public bounds of the fit; a column without any (the ball needs none) may take any value.
fn bounds(formula: &Formula, domain: &Domain) -> Result<Bounds, CuratorError> {
    let mut bounds = Bounds::default();
    for column in domain.columns() {
        let known = match column {
            Column::Numeric { lower, upper, .. } => ColumnBounds::Numeric { lower: *lower, upper: *upper },
            Column::Categorical { levels, .. } => ColumnBounds::Categorical { levels: levels.clone() },
        };
        bounds.insert(column.name(), known)?;
    }
    for name in formula.columns() {
        if bounds.column(name).is_none() {
            bounds.insert(name, ColumnBounds::Numeric { lower: -1e100, upper: 1e100 })?;
        }
    }
    Ok(bounds)
}
