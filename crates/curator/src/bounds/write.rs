//! Bounds to TOML text.

use super::{Bounds, ColumnBounds, Subject};
use crate::formula::{backticked, number_text};

pub(super) fn to_toml(bounds: &Bounds) -> String {
    let mut tables: Vec<String> = Vec::new();
    for (name, column) in bounds.columns() {
        let body = match column {
            ColumnBounds::Numeric { lower, upper } => numeric(*lower, *upper),
            ColumnBounds::Categorical { levels } => {
                let levels: Vec<String> = levels.iter().map(|level| quoted(level)).collect();
                format!("levels = [{}]\n", levels.join(", "))
            }
        };
        tables.push(format!("{}\n{body}", table_header(name)));
    }
    for (term, interval) in bounds.terms.values() {
        tables.push(format!("[{}]\n{}", quoted(&term.to_string()), numeric(interval.lower, interval.upper)));
    }
    tables.join("\n")
}

fn numeric(lower: f64, upper: f64) -> String {
    format!("lower = {}\nupper = {}\n", number_text(lower), number_text(upper))
}

/// The header of the table of a column.
pub(crate) fn table_header(column: &str) -> String {
    // A name that would read as something else, such as `log(x)`, needs backticks.
    let literal = Subject::of(column) == Subject::Column(column.to_owned());
    let key = if literal { column.to_owned() } else { backticked(column) };
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare { format!("[{key}]") } else { format!("[{}]", quoted(&key)) }
}

/// A TOML basic string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\U{:08X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
