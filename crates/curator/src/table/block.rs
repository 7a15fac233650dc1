//! Blocks of records as columns, and the rule for missing values, applied before anything is clamped.

use std::collections::HashMap;

use organza_release::Missing;

use super::ReadOptions;
use super::limits::MOST_NAMES;
use super::printed::printed;
use crate::CuratorError;
use crate::fingerprint::Fingerprint;
use crate::formula::{BlockColumns, CategoricalColumn, NumericColumn};

/// Rows of a block: a few hundred kilobytes at most for usual designs, so that a block stays in the cache.
pub(super) const BLOCK_ROWS: usize = 4_096;

/// How many rows were read, how many of them were used, and what a ledger knows them by.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts {
    /// Rows of the table.
    pub rows: u64,
    /// Records that were used: all rows, or the complete ones.
    pub records: u64,
    /// The fingerprint of the columns that were read, if the reader was given a key.
    pub content: Fingerprint,
}

/// The columns that are read, and what to do with a missing value in one of them.
pub(super) struct Needs<'a> {
    pub numeric: &'a [NumericColumn],
    pub categorical: &'a [CategoricalColumn],
    pub missing: Missing,
    show_values: bool,
    pub path: String,
    pub response_rule: Option<ResponseRule>,
    levels: Vec<HashMap<&'a [u8], u32>>,
}

/// What a response must be, beyond a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseRule {
    /// Exactly 0 or 1.
    ZeroOrOne,
    /// A whole number, not negative.
    Count,
}

impl ResponseRule {
    fn allows(self, value: f64) -> bool {
        match self {
            Self::ZeroOrOne => value == 0.0 || value == 1.0,
            Self::Count => value >= 0.0 && value.fract() == 0.0,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::ZeroOrOne => "neither 0 nor 1",
            Self::Count => "not a whole number from 0 on",
        }
    }
}

/// A cell as a reader found it.
pub(super) enum Cell<'c> {
    Missing,
    Number(f64),
    Text(&'c [u8]),
}

impl<'a> Needs<'a> {
    pub fn new(
        numeric: &'a [NumericColumn],
        categorical: &'a [CategoricalColumn],
        options: &ReadOptions,
        path: String,
    ) -> Self {
        let codes = |levels: &'a [String]| {
            levels.iter().zip(0..).map(|(level, code)| (level.as_bytes(), code)).collect::<HashMap<_, _>>()
        };
        let levels = categorical.iter().map(|column| codes(&column.levels)).collect();
        let (missing, show_values) = (options.missing, options.show_values);
        Self { numeric, categorical, missing, show_values, path, response_rule: None, levels }
    }

    /// Names of the needed columns, numeric ones first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let numeric = self.numeric.iter().map(|column| column.name.as_str());
        numeric.chain(self.categorical.iter().map(|column| column.name.as_str()))
    }

    /// The number of a cell, or none if its record is to be dropped.
    pub fn number(
        &self,
        column: usize,
        cell: Cell<'_>,
        place: &dyn Fn() -> String,
    ) -> Result<Option<f64>, CuratorError> {
        let described = &self.numeric[column];
        let fail = |reason: String| Err(self.cell_error(&described.name, place(), reason));
        let rule = self.response_rule.filter(|_| column == 0);
        match cell {
            Cell::Number(value) if value.is_finite() => match rule {
                Some(rule) if !rule.allows(value) => {
                    fail(format!("{}, which the model cannot use{}", rule.text(), self.shown(&value)))
                }
                _ => Ok(Some(value)),
            },
            Cell::Number(value) if value.is_infinite() => {
                fail(format!("not a finite number{}", self.shown(&value)))
            }
            Cell::Number(_) | Cell::Missing => match self.missing {
                Missing::Refused => fail(MISSING_HELP.to_string()),
                Missing::Dropped => Ok(None),
                Missing::Midpoint if rule.is_some() => fail(
                    "a missing response of this model has no midpoint; use the setting `missing = drop`"
                        .to_string(),
                ),
                Missing::Midpoint => {
                    Ok(Some(0.5 * described.interval.lower + 0.5 * described.interval.upper))
                }
            },
            Cell::Text(text) => {
                fail(format!("not a number{}{}", hint(text), self.shown(&String::from_utf8_lossy(text))))
            }
        }
    }

    /// The level of a cell, or none if its record is to be dropped.
    pub fn level(
        &self,
        column: usize,
        cell: Cell<'_>,
        place: &dyn Fn() -> String,
    ) -> Result<Option<u32>, CuratorError> {
        let described = &self.categorical[column];
        let fail = |reason: String| Err(self.cell_error(&described.name, place(), reason));
        let text = match &cell {
            Cell::Text(text) => text.to_vec(),
            Cell::Number(value) if !value.is_nan() => value.to_string().into_bytes(),
            _ => match self.missing {
                Missing::Dropped => return Ok(None),
                Missing::Refused => return fail(MISSING_HELP.to_string()),
                Missing::Midpoint => {
                    return fail(
                        "a missing level has no midpoint; use the setting `missing = drop` or add a level"
                            .to_string(),
                    );
                }
            },
        };
        match self.levels[column].get(text.as_slice()) {
            Some(code) => Ok(Some(*code)),
            None => {
                let known: Vec<String> =
                    described.levels.iter().take(MOST_NAMES).map(|name| printed(name)).collect();
                let more = if described.levels.len() > MOST_NAMES { ", ..." } else { "" };
                let shown = self.shown(&String::from_utf8_lossy(&text));
                fail(format!("not among the public levels {}{more}{shown}", known.join(", ")))
            }
        }
    }

    /// The beginning of a cell, if messages may show it.
    fn shown(&self, value: &dyn std::fmt::Display) -> String {
        if self.show_values {
            format!("; the cell is \"{}\"", printed(&value.to_string()))
        } else {
            String::new()
        }
    }

    fn cell_error(&self, column: &str, place: String, reason: String) -> CuratorError {
        CuratorError::Cell { path: self.path.clone(), place, column: printed(column), reason }
    }
}

/// What to do with dates.
pub(super) const DATE_HELP: &str = "turn it into a number, for instance days since a public date";

/// What a text that is no number may be meant to be. The text itself is private and is not shown.
fn hint(text: &[u8]) -> String {
    let digits = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let day = text.split(|byte| *byte == b' ' || *byte == b'T').next().unwrap_or(text);
    let date = b"-/.".iter().any(|separator| {
        let parts: Vec<&[u8]> = day.split(|byte| byte == separator).collect();
        parts.len() == 3
            && digits(parts[0])
            && digits(parts[2])
            && parts[1].iter().all(u8::is_ascii_alphanumeric)
    });
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let mut parts = unsigned.split(|byte| *byte == b',');
    let comma = (parts.next().is_some_and(digits), parts.next().is_some_and(digits), parts.next().is_none());
    match (date, comma) {
        (true, _) => format!("; it looks like a date: {DATE_HELP}"),
        (_, (true, true, true)) => {
            "; it looks like a decimal comma: say the setting `decimal_comma = true`".to_string()
        }
        _ => String::new(),
    }
}

const MISSING_HELP: &str = "the value is missing; use the setting `missing = drop` to leave such records out (the release says \
    so) or the setting `missing = midpoint` to put the middle of the bounds";

/// Owned columns that readers fill record by record.
#[derive(Default)]
pub(super) struct Block {
    numeric: Vec<Vec<f64>>,
    categorical: Vec<Vec<u32>>,
    rows: usize,
}

impl Block {
    pub fn new(needs: &Needs<'_>) -> Self {
        Self {
            numeric: vec![Vec::with_capacity(BLOCK_ROWS); needs.numeric.len()],
            categorical: vec![Vec::with_capacity(BLOCK_ROWS); needs.categorical.len()],
            rows: 0,
        }
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Adds one record whose cells a closure yields (numeric columns first); returns whether it was kept.
    pub fn push<'c>(
        &mut self,
        needs: &Needs<'_>,
        mut cell: impl FnMut(usize) -> Cell<'c>,
        place: &dyn Fn() -> String,
    ) -> Result<bool, CuratorError> {
        let numbers = self.numeric.len();
        for column in 0..numbers {
            match needs.number(column, cell(column), place)? {
                Some(value) => self.numeric[column].push(value),
                None => return Ok(self.discard()),
            }
        }
        for column in 0..self.categorical.len() {
            match needs.level(column, cell(numbers + column), place)? {
                Some(code) => self.categorical[column].push(code),
                None => return Ok(self.discard()),
            }
        }
        self.rows += 1;
        Ok(true)
    }

    /// Takes back the cells of a record that turned out to be incomplete.
    fn discard(&mut self) -> bool {
        self.numeric.iter_mut().for_each(|column| column.truncate(self.rows));
        self.categorical.iter_mut().for_each(|column| column.truncate(self.rows));
        false
    }

    pub fn clear(&mut self) {
        self.rows = 0;
        self.discard();
    }

    /// Lends the columns to a consumer.
    pub fn lend<R>(&self, consume: impl FnOnce(&BlockColumns<'_>) -> R) -> R {
        let numeric: Vec<&[f64]> = self.numeric.iter().map(Vec::as_slice).collect();
        let categorical: Vec<&[u32]> = self.categorical.iter().map(Vec::as_slice).collect();
        consume(&BlockColumns { numeric: &numeric, categorical: &categorical })
    }
}
