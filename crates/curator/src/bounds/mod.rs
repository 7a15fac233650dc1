//! Public bounds and levels of columns: what may be known about a table before anyone looks at it.
//!
//! They come from a TOML file with one table per column and from flags, which win over the file:
//!
//! ```toml
//! [age]
//! lower = 18
//! upper = 90
//!
//! [site]
//! levels = ["north", "south"]
//!
//! ["log(age)"]     # optional: tightens the interval of a derived term
//! lower = 3
//! upper = 4.5
//! ```
//!
//! A key that reads as a function, `I(...)` or an interaction bounds a derived term; any other key is the
//! name of a column. Put the name in backticks where a column is really called `log(age)`.

mod error;
mod flag;
mod read;
mod write;

#[cfg(test)]
mod tests;

use indexmap::IndexMap;

use crate::formula::{Interval, Term, TermKey};

pub use error::BoundsError;
pub(crate) use write::table_header;

/// What is public about one column.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnBounds {
    /// A numeric column; values outside are clamped.
    Numeric {
        /// Lower bound, below `upper`.
        lower: f64,
        /// Upper bound.
        upper: f64,
    },
    /// A categorical column.
    Categorical {
        /// At least two distinct levels; the first one is the reference.
        levels: Vec<String>,
    },
}

/// Public bounds of columns in the order in which they were given, and of derived terms.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bounds {
    columns: IndexMap<String, ColumnBounds>,
    terms: IndexMap<TermKey, (Term, Interval)>,
}

/// What the key of a table or a flag names.
#[derive(Debug, Clone, PartialEq)]
enum Subject {
    Column(String),
    Term(Term),
}

impl Subject {
    fn of(key: &str) -> Self {
        match key.parse::<Term>() {
            Ok(term) => match term.as_column() {
                Some(column) => Self::Column(column.to_owned()),
                None => Self::Term(term),
            },
            Err(_) => Self::Column(key.to_owned()),
        }
    }
}

impl Bounds {
    /// Reads the text of a bounds file; `source_name` is how errors call it.
    pub fn from_toml(text: &str, source_name: &str) -> Result<Self, BoundsError> {
        read::from_toml(text, source_name)
    }

    /// Sets bounds from a text, `x=0:10` or `site=a,b,c`, in place of earlier ones.
    pub fn set_flag(&mut self, flag: &str) -> Result<(), BoundsError> {
        flag::set_flag(self, flag)
    }

    /// Sets the bounds of a column, in place of earlier ones. The name is taken as it is.
    pub fn insert(&mut self, column: &str, bounds: ColumnBounds) -> Result<(), BoundsError> {
        bounds.check(&At { place: "bounds", subject: column })?;
        self.columns.insert(column.to_owned(), bounds);
        Ok(())
    }

    /// The bounds of a column.
    pub fn column(&self, name: &str) -> Option<&ColumnBounds> {
        self.columns.get(name)
    }

    /// The columns in the order in which they were given.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &ColumnBounds)> {
        self.columns.iter().map(|(name, bounds)| (name.as_str(), bounds))
    }

    /// The interval that was given for a derived term; the order of its factors does not matter.
    pub fn term(&self, term: &Term) -> Option<Interval> {
        if self.terms.is_empty() {
            return None;
        }
        self.terms.get(&term.key()).map(|(_, interval)| *interval)
    }

    /// The text of a bounds file that reads back as these bounds.
    pub fn to_toml(&self) -> String {
        write::to_toml(self)
    }

    /// Sets checked bounds and says whether there were earlier ones.
    fn set(&mut self, subject: &Subject, bounds: ColumnBounds, at: &At<'_>) -> Result<bool, BoundsError> {
        bounds.check(at)?;
        match (subject, bounds) {
            (Subject::Column(name), bounds) => Ok(self.columns.insert(name.clone(), bounds).is_some()),
            (Subject::Term(term), ColumnBounds::Numeric { lower, upper }) => {
                let value = (term.clone(), Interval { lower, upper });
                Ok(self.terms.insert(term.key(), value).is_some())
            }
            (Subject::Term(_), ColumnBounds::Categorical { .. }) => {
                Err(BoundsError::LevelsOfTerm { place: at.place.to_owned(), term: at.subject.to_owned() })
            }
        }
    }
}

/// Where bounds were given, for errors.
#[derive(Debug, Clone, Copy)]
struct At<'a> {
    place: &'a str,
    subject: &'a str,
}

impl ColumnBounds {
    fn check(&self, at: &At<'_>) -> Result<(), BoundsError> {
        let (place, column) = (at.place.to_owned(), at.subject.to_owned());
        match self {
            Self::Numeric { lower, upper } => {
                for (key, value) in [("lower", *lower), ("upper", *upper)] {
                    if !value.is_finite() {
                        return Err(BoundsError::NotFinite { place, column, key, value });
                    }
                }
                if lower >= upper {
                    return Err(BoundsError::Order { place, column, lower: *lower, upper: *upper });
                }
                if !(upper - lower).is_finite() {
                    return Err(BoundsError::TooWide { place, column });
                }
            }
            Self::Categorical { levels } => {
                if levels.len() < 2 {
                    return Err(BoundsError::FewLevels { place, column, count: levels.len() });
                }
                if let Some(level) = repeated(levels) {
                    return Err(BoundsError::DuplicateLevel { place, column, level: levels[level].clone() });
                }
            }
        }
        Ok(())
    }
}

/// The index of the first level that repeats an earlier one.
fn repeated(levels: &[String]) -> Option<usize> {
    let mut seen = std::collections::HashSet::new();
    levels.iter().position(|level| !seen.insert(level))
}
