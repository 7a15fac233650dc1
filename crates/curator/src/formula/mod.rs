//! From the text `y ~ x1 + log(x2) + site` and public bounds to a compiled [`Design`].
//!
//! The parser follows R: `+`, `-`, `:`, `*`, `^`, `- 1`, `+ 0`, `I(...)`, main effects first and then by
//! degree. Only the *public* bounds and levels enter a design, never a table: the names of the features,
//! their intervals and their number are the same whatever the data are.
//!
//! | file | concept |
//! | --- | --- |
//! | `tokens`, `arithmetic`, `terms`, `parser` | text to [`Formula`] |
//! | `expression`, `term` | the syntax tree and its canonical text |
//! | `interval`, `program` | interval arithmetic, and the operations whose results it encloses |
//! | `contrasts` | how a categorical column is coded in a term |
//! | `design`, `assembly` | [`Design`] and its compilation |
//! | `evaluate`, `kernels` | a block of rows to columns of features |

mod arithmetic;
mod assembly;
mod contrasts;
mod design;
mod error;
mod evaluate;
mod expression;
mod interval;
mod kernels;
mod parser;
mod program;
mod term;
mod terms;
mod tokens;

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use indexmap::IndexSet;

pub use design::{CategoricalColumn, Design, Feature, NumericColumn};
pub use error::FormulaError;
pub use evaluate::{BlockColumns, Workspace};
pub use expression::{Expression, Function, Operator};
pub use interval::Interval;
pub use term::{Factor, Term};

pub(crate) use expression::{backticked, number_text, quoted_name};
pub(crate) use term::TermKey;
#[cfg(test)]
pub(crate) use tests::seeded;

/// A parsed regression formula: a response, an optional intercept and distinct terms in R's order.
///
/// `Display` writes the canonical text, with all operators expanded; reading it gives the same formula.
///
/// ```
/// # use organza_curator::formula::Formula;
/// let formula: Formula = "log(y) ~ (a + b)^2 - 1".parse()?;
/// assert_eq!(formula.to_string(), "log(y) ~ 0 + a + b + a:b");
/// # Ok::<(), organza_curator::formula::FormulaError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    response: Factor,
    intercept: bool,
    terms: Vec<Term>,
}

impl Formula {
    /// The left side.
    pub fn response(&self) -> &Factor {
        &self.response
    }

    /// Whether the model has an intercept.
    pub fn intercept(&self) -> bool {
        self.intercept
    }

    /// The terms of the right side without the intercept: main effects first, then by degree.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// All columns that the formula reads, each once, in the order of appearance, the response's first.
    pub fn columns(&self) -> Vec<&str> {
        let columns = self.factors().flat_map(|factor| factor.expression().columns());
        columns.collect::<IndexSet<_>>().into_iter().collect()
    }

    /// The same right side with 0 on the left, so that no column of the response is read ([`Design::compile_features`]).
    pub fn without_response(&self) -> Self {
        Self { response: Factor::new(Expression::Number(0.0), true), ..self.clone() }
    }

    /// The response and the factors of all terms.
    pub(crate) fn factors(&self) -> impl Iterator<Item = &Factor> {
        std::iter::once(&self.response).chain(self.terms.iter().flat_map(Term::factors))
    }
}

impl FromStr for Formula {
    type Err = FormulaError;

    fn from_str(text: &str) -> Result<Self, FormulaError> {
        parser::parse_formula(text)
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ~ ", self.response)?;
        match (self.intercept, self.terms.is_empty()) {
            (true, true) => return f.write_str("1"),
            (false, _) => f.write_str("0 + ")?,
            (true, false) => {}
        }
        for (index, term) in self.terms.iter().enumerate() {
            write!(f, "{}{term}", if index == 0 { "" } else { " + " })?;
        }
        Ok(())
    }
}
