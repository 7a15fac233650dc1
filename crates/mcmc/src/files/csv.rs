//! Comma-separated values.

use std::io::Write;

use super::columns::{INDEX, Table, index};
use crate::{Draws, DrawsError};

/// Writes draws as comma-separated values; numbers read back to the same bits.
///
/// Statistics may be infinite or undefined; these are written as `Inf`, `-Inf` and `NaN`, as R writes them.
pub fn write_csv(draws: &Draws, table: Table, output: impl Write) -> Result<(), DrawsError> {
    let mut writer = csv::Writer::from_writer(output);
    let names = table.names(draws);
    writer.write_record(INDEX.into_iter().chain(names.iter().map(String::as_str))).map_err(fail)?;
    let mut values = table.values(draws).iter();
    for row in index(draws.records()) {
        row.iter().try_for_each(|number| writer.write_field(number.to_string())).map_err(fail)?;
        values
            .by_ref()
            .take(names.len())
            .try_for_each(|value| writer.write_field(text(*value)))
            .map_err(fail)?;
        writer.write_record(None::<&[u8]>).map_err(fail)?;
    }
    writer.flush().map_err(fail)
}

fn text(value: f64) -> String {
    match value {
        f64::INFINITY => "Inf".to_string(),
        f64::NEG_INFINITY => "-Inf".to_string(),
        _ => format!("{value:?}"), // the shortest digits that read back, with an exponent where it is shorter
    }
}

fn fail(error: impl std::fmt::Display) -> DrawsError {
    DrawsError::Write { format: "CSV", reason: error.to_string() }
}
