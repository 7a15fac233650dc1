//! `organza release --check`: what clamping and scaling do to a table, for the eyes of its holder alone.

use organza::beside_table::input;
use organza_curator::mechanism::Plan;
use organza_curator::table::Reading;
use organza_curator::{ClampedColumn, Clamping};

use super::ReleaseArguments;
use crate::cli::failure::{Failure, Status};
use crate::cli::terminal::{Bar, print_text, prose, short, table, warn};

/// Clamped values above this share are worth a warning.
const MUCH: f64 = 0.05;

const NOTICE: &str =
    "\u{1b}[1mPRIVATE: this comes from the table without any noise and must not be passed on\u{1b}[0m";

/// Reads the table and prints; nothing is charged or written.
pub fn run(arguments: &ReleaseArguments, plan: &Plan) -> Result<Status, Failure> {
    let path = arguments.table.as_deref().ok_or_else(|| Failure::bad_input("--check: TABLE is needed"))?;
    let (input, options) = (input(path)?, arguments.beside.options());
    let bar = Bar::new(false);
    let found =
        organza_curator::clamping(plan, &Reading { input: &input, options: &options, progress: &bar });
    bar.finish();
    let found = found?;
    warn(NOTICE);
    print_text(&explain(&found, plan))?;
    for ClampedColumn { column, below, above } in &found.columns {
        if below + above > MUCH {
            warn(&format!(
                "`{}`: {} percent of the values are clamped: are its bounds, {} to {}, in the units of the table?",
                column.name,
                short(rounded(below + above)),
                short(column.interval.lower),
                short(column.interval.upper)
            ));
        }
    }
    Ok(Status::Fine)
}

/// Percent with one decimal.
fn rounded(share: f64) -> f64 {
    (1000.0 * share).round() / 10.0
}

fn percent(share: f64) -> String {
    if share > 0.0 && share < 5e-4 { "<0.1%".into() } else { format!("{}%", rounded(share)) }
}

fn explain(found: &Clamping, plan: &Plan) -> String {
    let rows = found.columns.iter().map(|ClampedColumn { column, below, above }| {
        let bounds = [column.interval.lower, column.interval.upper].map(short);
        vec![column.name.clone(), percent(*below), percent(*above), bounds.join(" to ")]
    });
    let text = table(&["column", "clamped at lower", "clamped at upper", "bounds"], rows);
    let scaling = match &found.scaling {
        Some(scaling) => format!(
            "{} of {} records are shrunk; the mean of c^2, the weight of a record in the sums, is {}",
            percent(scaling.shrunk),
            found.records,
            short(scaling.mean_weight)
        ),
        None => format!("{} records; records are not scaled", found.records),
    };
    format!("formula: {}\n{text}{}", plan.domain().formula(), prose(&scaling))
}
