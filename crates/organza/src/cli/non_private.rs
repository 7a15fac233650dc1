//! `organza non-private`: what a table says without privacy, for a comparison beside it.

use std::path::PathBuf;

use clap::Args;
use organza_curator::formula::Formula;
use organza_curator::table::Reading;
use organza_curator::{NonPrivate, Weighted};
use organza_release::units::CoefficientMap;
use serde_json::json;

use super::beside_table::input;
use super::failure::{Failure, Status};
use super::read_arguments::ReadArguments;
use super::release::read_bounds;
use super::terminal::{Bar, print_json, print_text, prose, short, table, warn};

#[derive(Args, Debug)]
pub struct NonPrivateArguments {
    /// The table: CSV (also gzipped) or Parquet; `-` reads CSV from standard input
    table: PathBuf,
    /// The regression
    #[arg(long)]
    formula: String,
    /// TOML file with public bounds and levels
    #[arg(long, value_name = "FILE")]
    bounds: Option<PathBuf>,
    /// Bounds of a column, x=0:10, or its levels, site=a,b,c (wins over the file; may be repeated)
    #[arg(long, value_name = "COLUMN=PUBLIC")]
    bound: Vec<String>,
    /// Privacy loss of the release whose weights are shown
    #[arg(long, default_value_t = 1.0)]
    epsilon: f64,
    /// Its probability beyond epsilon
    #[arg(long, default_value_t = 1e-6)]
    delta: f64,
    #[command(flatten)]
    read: ReadArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const WARNING: &str =
    "\u{1b}[1mNOT PRIVATE: this is for comparison beside the table only and must not be published\u{1b}[0m";

pub fn run(arguments: &NonPrivateArguments) -> Result<Status, Failure> {
    let formula: Formula = arguments.formula.parse().map_err(Failure::bad_input)?;
    let bounds = read_bounds(arguments.bounds.as_deref(), &arguments.bound)?;
    let (input, options) = (input(&arguments.table)?, arguments.read.options());
    let bar = Bar::new(arguments.json);
    let exact = organza_curator::non_private(
        formula,
        bounds,
        (arguments.epsilon, arguments.delta),
        &Reading { input: &input, options: &options, progress: &bar },
    );
    bar.finish();
    let exact = exact?;
    let too_large = || Failure::failed("the sums of squares are too large for 64-bit arithmetic");
    let coefficients = posterior(&exact, &exact.gram).ok_or_else(too_large)?;
    let weighted =
        exact.weighted.as_ref().map(|weighted| posterior(&exact, &weighted.gram).ok_or_else(too_large));
    let weighted = weighted.transpose()?;
    warn(WARNING);
    if arguments.json {
        print_json(&json!({
            "private": false, "records": exact.records, "coefficients": coefficients, "weighted": weighted,
        }))?;
        return Ok(Status::Fine);
    }
    print_text(&explain(&exact, &coefficients, weighted.as_deref()))?;
    Ok(Status::Fine)
}

/// The estimates for a person, beside each other where there are two.
fn explain(exact: &NonPrivate, coefficients: &[Coefficient], weighted: Option<&[Coefficient]>) -> String {
    let mut header = vec!["coefficient", "mean", "sd", "2.5%", "97.5%"];
    header.extend(weighted.iter().flat_map(|_| ["weighted mean", "weighted sd"]));
    let rows = coefficients.iter().enumerate().map(|(place, coefficient)| {
        let Coefficient { name, mean, sd, interval } = coefficient;
        let second = weighted.iter().flat_map(|weighted| [weighted[place].mean, weighted[place].sd]);
        let numbers = [*mean, *sd, interval[0], interval[1]].into_iter().chain(second);
        [name.clone()].into_iter().chain(numbers.map(short)).collect()
    });
    let text = table(&header, rows);
    let Some(Weighted { radius, intercept_weight, shrinks, .. }) = &exact.weighted else { return text };
    if !shrinks {
        return text
            + &prose(
                "weighted: the default release of so many records shrinks none of them, so all weights are 1",
            );
    }
    text + &prose(&format!(
        "weighted: every record counts c^2 as in the default release, where c = min(1, {}/|(g, u)|) for normalised features u and a constant \
         g = {}: long records count less",
        short(*radius),
        short(*intercept_weight)
    ))
}

/// Posterior of one coefficient in users' units.
#[derive(Debug, serde::Serialize)]
struct Coefficient {
    name: String,
    mean: f64,
    sd: f64,
    /// Central interval of 95 percent.
    interval: [f64; 2],
}

/// Precision of the coefficients relative to that of the residuals, and shape and rate of the residual variance's prior, all in
/// normalised units.
const PRIOR: (f64, f64, f64) = (0.01, 1.0, 0.01);

/// The conjugate posterior under theta ~ N(0, sigma^2/0.01), sigma^2 ~ IG(1, 0.01): a multivariate t distribution.
fn posterior(exact: &NonPrivate, gram: &[f64]) -> Option<Vec<Coefficient>> {
    let (size, (ridge, shape, rate)) = (exact.domain.dimension(), PRIOR);
    let p = size - 1;
    let entry = |row: usize, column: usize| gram[row * size + column];
    let precision = |k: usize| entry(k / p, k % p) + if k.is_multiple_of(p + 1) { ridge } else { 0.0 };
    let inverse = inverse((0..p * p).map(precision).collect(), p)?;
    let mean: Vec<f64> = (0..p).map(|row| (0..p).map(|k| inverse[row * p + k] * entry(k, p)).sum()).collect();
    let explained: f64 = (0..p).map(|k| mean[k] * entry(k, p)).sum();
    let shape = shape + 0.5 * exact.records as f64;
    let rate = rate + 0.5 * (entry(p, p) - explained).max(0.0);
    let map = CoefficientMap::new(&exact.domain);
    let (mean, unit) = (map.to_users(&mean), map.covariance_to_users(&inverse));
    let reach = student_quantile(2.0 * shape);
    let names = exact.domain.intercept().then_some("intercept").into_iter();
    let names = names.chain(exact.domain.feature_names()).enumerate();
    let coefficient = |(k, name): (usize, &str)| {
        let half = reach * (rate / shape * unit[k * p + k]).sqrt();
        let sd = (rate / (shape - 1.0) * unit[k * p + k]).sqrt();
        Coefficient { name: name.into(), mean: mean[k], sd, interval: [mean[k] - half, mean[k] + half] }
    };
    Some(names.map(coefficient).collect())
}

/// The inverse of a positive definite matrix by Gauss and Jordan; pivots of such a matrix are positive.
fn inverse(mut a: Vec<f64>, size: usize) -> Option<Vec<f64>> {
    for k in 0..size {
        let pivot = a[k * size + k];
        if !(pivot.is_finite() && pivot > 0.0) {
            return None;
        }
        a[k * size + k] = 1.0;
        a[k * size..(k + 1) * size].iter_mut().for_each(|value| *value /= pivot);
        for row in (0..size).filter(|row| *row != k) {
            let factor = std::mem::take(&mut a[row * size + k]);
            for column in 0..size {
                a[row * size + column] -= factor * a[k * size + column];
            }
        }
    }
    Some(a)
}

/// The 97.5 percent point of Student's distribution by the expansion of Cornish and Fisher: one percent off at 3 degrees of
/// freedom, the fewest that occur, and one part in 10^5 from 30 on.
fn student_quantile(freedom: f64) -> f64 {
    let z: f64 = 1.959_963_984_540_054;
    let z2 = z * z;
    let terms = [
        z * (z2 + 1.0) / 4.0,
        z * ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0,
        z * (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0,
        z * ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) / 92160.0,
    ];
    terms.iter().rev().fold(0.0, |sum, term| (sum + term) / freedom) + z
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_tables() {
        for (freedom, exact, error) in
            [(3.0, 3.182_446, 1e-2), (10.0, 2.228_139, 1e-4), (30.0, 2.042_272, 1e-5), (1e6, 1.959_966, 1e-6)]
        {
            let found = student_quantile(freedom);
            assert!((found / exact - 1.0).abs() < error, "{freedom}: {found} {exact}");
        }
    }

    #[test]
    fn inverses_of_known_matrices() {
        assert_eq!(inverse(vec![2.0, 1.0, 1.0, 1.0], 2), Some(vec![1.0, -1.0, -1.0, 2.0]));
        assert_eq!(inverse(vec![1.0, 2.0, 2.0, 1.0], 2), None);
    }
}
