//! Errors of public bounds.

use organza_release::did_you_mean;
use thiserror::Error;

/// Why public bounds could not be read. `place` is `file:line:column` or the flag.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum BoundsError {
    /// The file is not TOML.
    #[error("{place}: {message}")]
    Toml {
        /// Where it was given.
        place: String,
        /// What is wrong.
        message: String,
    },
    /// A key at the top of the file is no table.
    #[error("{place}: `{column}` is {found}; give a table, `{header}` with lower and upper, or with levels")]
    NotATable {
        /// Where it was given.
        place: String,
        /// The column or term.
        column: String,
        /// The header to write.
        header: String,
        /// What was given.
        found: &'static str,
    },
    /// A key that bounds do not have.
    #[error(
        "{place}: unknown key `{key}` in the bounds of `{column}`{}; known are lower, upper and levels",
        did_you_mean(key, &["lower", "upper", "levels"])
    )]
    UnknownKey {
        /// Where it was given.
        place: String,
        /// The column or term.
        column: String,
        /// The key of the value.
        key: String,
    },
    /// A dotted header made a table inside a table.
    #[error(
        "{place}: `{key}` is a table inside `{column}`; put a column name with a dot in quotes: {header}"
    )]
    NestedTable {
        /// Where it was given.
        place: String,
        /// The column or term.
        column: String,
        /// The key of the value.
        key: String,
        /// The header to write.
        header: String,
    },
    /// A value of the wrong type.
    #[error("{place}: {key} of `{column}` is {found}; give {expected}")]
    WrongType {
        /// Where it was given.
        place: String,
        /// The column or term.
        column: String,
        /// The key of the value.
        key: &'static str,
        /// What was given.
        found: &'static str,
        /// What to give.
        expected: &'static str,
    },
    /// One of the two bounds, or everything, is missing.
    #[error(
        "{place}: `{column}` has no {missing}; give lower and upper for numbers, or levels for categories"
    )]
    Missing {
        /// Where it was given.
        place: String,
        /// The column or term.
        column: String,
        /// What is missing.
        missing: &'static str,
    },
    /// A bound is infinite or not a number.
    #[error("{place}: {key} of `{column}` is {value}; give a finite number")]
    NotFinite {
        /// Where it was given.
        place: String,
        /// The column or term.
        column: String,
        /// The key of the value.
        key: &'static str,
        /// The value.
        value: f64,
    },
    /// The bounds are equal or the wrong way round.
    #[error("{place}: lower = {lower} of `{column}` is not below upper = {upper}; give lower < upper")]
    Order {
        /// Where it was given.
        place: String,
        /// The column or term.
        column: String,
        /// The lower bound.
        lower: f64,
        /// The upper bound.
        upper: f64,
    },
    /// The distance of the bounds is infinite.
    #[error("{place}: the bounds of `{column}` are too far apart for double precision; tighten them")]
    TooWide {
        /// Where it was given.
        place: String,
        /// The column or term.
        column: String,
    },
    /// Bounds and levels for one column.
    #[error(
        "{place}: `{column}` has both bounds and levels; keep lower and upper for numbers, or levels for \
         categories"
    )]
    BoundsAndLevels {
        /// Where it was given.
        place: String,
        /// The column or term.
        column: String,
    },
    /// A categorical column needs two levels to vary.
    #[error("{place}: `{column}` needs at least 2 levels, the first one is the reference; {count} given")]
    FewLevels {
        /// Where it was given.
        place: String,
        /// The column or term.
        column: String,
        /// How many were given.
        count: usize,
    },
    /// A level is given twice.
    #[error("{place}: level `{level}` of `{column}` is given twice; remove one")]
    DuplicateLevel {
        /// Where it was given.
        place: String,
        /// The column or term.
        column: String,
        /// The level.
        level: String,
    },
    /// Levels for a derived term.
    #[error(
        "{place}: `{term}` is a derived term and cannot have levels; give lower and upper, or put a column \
         name in backticks"
    )]
    LevelsOfTerm {
        /// Where it was given.
        place: String,
        /// The term.
        term: String,
    },
    /// Two keys of a file name the same column or term.
    #[error("{place}: bounds of `{column}` are given twice; remove one")]
    Duplicate {
        /// Where it was given.
        place: String,
        /// The column or term.
        column: String,
    },
    /// A text that is not of the form `x=0:10` or `site=a,b,c`.
    #[error(
        "the setting `bound` {flag}: {message}; write the setting `bound` x=0:10 for numbers or the setting `bound` site=a,b,c for levels"
    )]
    Flag {
        /// The text.
        flag: String,
        /// What is wrong.
        message: String,
    },
}
