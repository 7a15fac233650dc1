//! How a table is read, the same for every verb that reads one.

use clap::Args;
use organza_curator::table::{ReadOptions, check_threads};

use super::release::choices::MissingName;

/// The options as a person gives them.
#[derive(Args, Debug)]
pub struct ReadArguments {
    /// What to do with missing values
    #[arg(long, value_enum, default_value_t = MissingName::Error)]
    missing: MissingName,
    /// The CSV file has no header; its columns are c1, c2, ...
    #[arg(long)]
    no_header: bool,
    /// Numbers of the CSV file have decimal commas, 1,5 for 1.5
    #[arg(long)]
    decimal_comma: bool,
    /// Field separator of the CSV file; `\t` is a tab
    #[arg(long, default_value = ",", value_parser = delimiter)]
    delimiter: u8,
    /// Show the beginning of a cell that cannot be used, on this terminal: it is a private value
    #[arg(long)]
    show_values: bool,
}

/// A number of threads that this machine can use.
pub fn threads(given: &str) -> Result<usize, String> {
    let threads = given.parse().map_err(|_| "a whole number is needed".to_string())?;
    check_threads(threads).map(|()| threads).map_err(|error| super::flags::in_text(&error.to_string()))
}

/// The separator as the reader wants it.
fn delimiter(given: &str) -> Result<u8, String> {
    match given.as_bytes() {
        [byte] => Ok(*byte),
        b"\\t" => Ok(b'\t'),
        _ => Err("one character of one byte is needed".into()),
    }
}

impl ReadArguments {
    /// The options as the reader wants them.
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            header: !self.no_header,
            delimiter: self.delimiter,
            decimal_comma: self.decimal_comma,
            missing: self.missing.into(),
            show_values: self.show_values,
            ..ReadOptions::default()
        }
    }
}
