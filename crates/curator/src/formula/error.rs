//! Errors of formulas and designs.

use organza_release::{did_you_mean, shell_word};
use thiserror::Error;

/// How many characters of a long formula an error shows.
const EXCERPT: usize = 90;

/// Why a formula could not be read, compiled or evaluated.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum FormulaError {
    /// The text is not a formula. The message ends with a line of the text and a caret below the position.
    #[error("formula, column {column}: {message}\n{excerpt}")]
    Syntax {
        /// Position in characters, from 1.
        column: usize,
        /// What is wrong and what to write instead.
        message: String,
        /// The text and a caret line, each indented by two spaces.
        excerpt: String,
    },
    /// Columns of the formula have no public bounds.
    #[error("{}", missing_bounds(columns, known))]
    MissingBounds {
        /// The names, in the order of the formula.
        columns: Vec<String>,
        /// The columns that have bounds.
        known: Vec<String>,
    },
    /// The response has levels.
    #[error(
        "the response `{column}` is categorical; regression needs a numeric response: give lower and upper \
         instead of levels"
    )]
    CategoricalResponse {
        /// The column with levels.
        column: String,
    },
    /// A function or arithmetic of a column with levels.
    #[error(
        "`{factor}` computes with the categorical column `{column}`; use `{column}` as a term of its own, or \
         give it lower and upper instead of levels"
    )]
    CategoricalArithmetic {
        /// The text of the factor.
        factor: String,
        /// The column with levels.
        column: String,
    },
    /// A part of a term has no finite value somewhere inside the public bounds.
    #[error("`{expression}` is not defined for every value inside the public bounds ({bounds}): {reason}")]
    Undefined {
        /// The part of the term.
        expression: String,
        /// The bounds of its columns.
        bounds: String,
        /// What is needed and what to do.
        reason: String,
    },
    /// The interval of a term is a single point, so that it carries no information.
    #[error("constant term: `{term}` is always {value}; remove it from the formula")]
    ConstantTerm {
        /// The text of the term.
        term: String,
        /// Its only value.
        value: f64,
    },
    /// Bounds given for a derived term do not meet the interval that follows from its columns.
    #[error(
        "the bounds of `{term}` are given as [{lower}, {upper}], but its columns allow [{derived_lower}, \
         {derived_upper}] only; bounds of a derived term may tighten that interval, so give bounds that meet \
         it in more than one point"
    )]
    DisjointBounds {
        /// The text of the derived term.
        term: String,
        /// Given lower bound.
        lower: f64,
        /// Given upper bound.
        upper: f64,
        /// Lower end of the interval that follows from the columns.
        derived_lower: f64,
        /// Upper end of the interval that follows from the columns.
        derived_upper: f64,
    },
    /// Bounds given for a term with a categorical column.
    #[error(
        "bounds are given for `{term}`, which has a categorical column; remove them: its features are 0 \
         outside their level and follow the bounds of the numeric columns inside it"
    )]
    BoundsOfCategories {
        /// The text of the term.
        term: String,
    },
    /// The design would have too many columns.
    #[error(
        "the design has more than {limit} features, or names that are too long for so many; use fewer levels or interactions"
    )]
    TooManyFeatures {
        /// The largest number of features.
        limit: usize,
    },
    /// The caller of `Design::evaluate` passed slices that do not fit the design.
    #[error("the block does not fit the design: {what} has {found}, expected {expected}")]
    BlockShape {
        /// Which part does not fit.
        what: String,
        /// Its size.
        found: usize,
        /// The size that the design needs.
        expected: usize,
    },
    /// The caller of `Design::evaluate` passed a level code that is no index of a level.
    #[error("column `{column}` has a level code that is not below its number of levels, {levels}")]
    LevelCode {
        /// The categorical column.
        column: String,
        /// How many levels it has.
        levels: usize,
    },
}

impl FormulaError {
    /// A syntax error at a byte offset of `text`.
    pub(super) fn at(text: &str, offset: usize, message: impl Into<String>) -> Self {
        let position = text.char_indices().take_while(|(byte, _)| *byte < offset).count();
        let start = if position < EXCERPT { 0 } else { position - EXCERPT / 2 };
        let visible = |c: char| if c.is_control() { ' ' } else { c };
        let line: String = text.chars().skip(start).take(EXCERPT).map(visible).collect();
        let excerpt = format!("  {}\n  {:>width$}", line.trim_end(), "^", width = position - start + 1);
        Self::Syntax { column: position + 1, message: message.into(), excerpt }
    }
}

fn missing_bounds(columns: &[String], known: &[String]) -> String {
    let advice = |column: &String| {
        let header = crate::bounds::table_header(column);
        let name = super::quoted_name(column);
        let numeric = shell_word(&format!("{name}=LOWER:UPPER"));
        let levels = shell_word(&format!("{name}=a,b"));
        format!(
            "column `{column}` has no public bounds{}; add to the bounds file\n\n\
             \x20   {header}\n\
             \x20   lower = LOWER\n\
             \x20   upper = UPPER\n\n\
             or give the setting `bound` {numeric} (a categorical column: levels = [\"a\", \"b\"], or the setting `bound` {levels})",
            did_you_mean(column, known)
        )
    };
    columns.iter().map(advice).collect::<Vec<_>>().join("\n")
}
