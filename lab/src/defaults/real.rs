//! The three real data sets: z-scored columns, public bounds at 4 standard deviations, last fifth for testing.

use super::table::{Bounds, Problem, Table, Truth};
use std::{fs, io, path::Path};

/// Files as the data folder names them.
pub const FILES: [&str; 3] = ["power_plant_energy.csv", "bike_sharing.csv", "air_quality.csv"];
const HALF_WIDTH: f64 = 4.0;

/// Why a data set could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The file could not be read.
    #[error("{file}: {source}; give the folder of the data sets with --data")]
    Read {
        /// File name.
        file: String,
        /// The cause.
        source: io::Error,
    },
    /// A field is not a number.
    #[error("{file}, line {line}: '{field}' is not a number")]
    Number {
        /// File name.
        file: String,
        /// Line, from 1.
        line: usize,
        /// The field as written.
        field: String,
    },
    /// Least squares failed.
    #[error("{file}: the features are collinear, so least squares has no answer to compare with")]
    Collinear {
        /// File name.
        file: String,
    },
}

/// Reads a file without header; drops empty fields and empty lines.
fn read(folder: &Path, file: &str) -> Result<(Vec<f64>, usize), DataError> {
    let text = fs::read_to_string(folder.join(file))
        .map_err(|source| DataError::Read { file: file.into(), source })?;
    let (mut raw, mut columns) = (Vec::new(), 0);
    for (number, line) in text.lines().enumerate() {
        let before = raw.len();
        for field in line.split(',').map(str::trim).filter(|field| !field.is_empty()) {
            raw.push(field.parse().map_err(|_| DataError::Number {
                file: file.into(),
                line: number + 1,
                field: field.into(),
            })?);
        }
        columns = columns.max(raw.len() - before);
    }
    Ok((raw, columns))
}

fn standardise(raw: &mut [f64], columns: usize) {
    let n = (raw.len() / columns) as f64;
    for k in 0..columns {
        let mean = raw.iter().skip(k).step_by(columns).sum::<f64>() / n;
        let variance =
            raw.iter().skip(k).step_by(columns).map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        raw.iter_mut().skip(k).step_by(columns).for_each(|x| *x = (*x - mean) / variance.sqrt());
    }
}

/// A data set as a problem; least squares on the unclamped training rows is the reference.
pub fn problem(folder: &Path, file: &str, intercept: bool, epsilon: f64) -> Result<Problem, DataError> {
    let (mut raw, columns) = read(folder, file)?;
    standardise(&mut raw, columns);
    let split = (raw.len() / columns * 4).div_ceil(5) * columns;
    let bounds = vec![Bounds { centre: 0.0, half_width: HALF_WIDTH }; columns];
    let reference = Table::normalise(&raw[..split], &bounds, false).moments(intercept);
    let coefficients = reference.solve().ok_or_else(|| DataError::Collinear { file: file.into() })?;
    let test = Table::normalise(&raw[split..], &bounds, false).moments(intercept);
    let base = test.squared_error(&coefficients);
    let truth = Truth {
        coefficients,
        test,
        base,
        response_variance: HALF_WIDTH.powi(-2),
        feature_sd: vec![1.0 / HALF_WIDTH; columns - 1],
    };
    let table = Table::normalise(&raw[..split], &bounds, true);
    let name = file.trim_end_matches(".csv").to_string();
    let tags = vec![("data", name), ("epsilon", epsilon.to_string())];
    Ok(Problem { table, truth, booleans: 0, intercept, epsilon, tags })
}
