//! The words in which checks are written.

use std::collections::BTreeSet;

use crate::error::ReleaseError;
use crate::printable::printable;

/// Nothing, or the field that is wrong.
pub(crate) type Checked = Result<(), ReleaseError>;

pub(crate) fn require(condition: bool, field: impl Into<String>, reason: impl Into<String>) -> Checked {
    if condition { Ok(()) } else { fail(field, reason) }
}

pub(crate) fn fail(field: impl Into<String>, reason: impl Into<String>) -> Checked {
    Err(ReleaseError::field(field, reason))
}

pub(crate) fn require_positive(field: &str, number: f64) -> Checked {
    require(number.is_finite() && number > 0.0, field, format!("must be positive and finite, found {number}"))
}

/// Nothing that a terminal would obey instead of show.
pub(crate) fn require_printable(field: &str, text: &str) -> Checked {
    let shown = printable(text);
    require(shown == text, field, format!("must not hold control characters, found \"{shown}\""))
}

pub(crate) fn require_length(field: &str, found: usize, wanted: usize) -> Checked {
    require(found == wanted, field, format!("has {found} numbers for {wanted} entries of the statistic"))
}

pub(crate) fn require_distinct(field: &str, names: &[&str]) -> Checked {
    let mut seen = BTreeSet::new();
    match names.iter().find(|name| !seen.insert(**name)) {
        Some(name) => fail(field, format!("{name:?} is given twice")),
        None => Ok(()),
    }
}
