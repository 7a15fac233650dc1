//! `organza non-private`: what a table says without privacy, for a comparison beside it.

use std::path::PathBuf;

use clap::Args;
use organza::beside_table::input;
use organza::non_private::{Coefficient, NonPrivate, non_private};
use organza_curator::Weighted;
use organza_curator::formula::Formula;
use organza_curator::table::Reading;

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
    let found = non_private(
        formula,
        bounds,
        (arguments.epsilon, arguments.delta),
        &Reading { input: &input, options: &options, progress: &bar },
    );
    bar.finish();
    let found = found?;
    warn(WARNING);
    if arguments.json {
        print_json(&found)?;
    } else {
        print_text(&explain(&found))?;
    }
    Ok(Status::Fine)
}

/// The estimates for a person, beside each other where there are two.
fn explain(found: &NonPrivate) -> String {
    let NonPrivate { coefficients, weighted, exact, .. } = found;
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
