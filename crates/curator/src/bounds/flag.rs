//! Bounds from texts like `x=0:10`.

use super::{At, Bounds, BoundsError, ColumnBounds, Subject};

pub(super) fn set_flag(bounds: &mut Bounds, flag: &str) -> Result<(), BoundsError> {
    let wrong = |message: String| BoundsError::Flag { flag: flag.to_owned(), message };
    let (key, value) = split_key(flag).ok_or_else(|| wrong("there is no `=` after the column".to_owned()))?;
    if key.is_empty() {
        return Err(wrong("there is no column before `=`".to_owned()));
    }
    let column_bounds = match (value.split_once(':'), value.contains(',')) {
        (Some(_), true) => {
            return Err(wrong(
                "it has both `:` and `,`; levels with a colon belong in the bounds file".to_owned(),
            ));
        }
        (Some((lower, upper)), false) => {
            let (lower, upper) = (number(lower).map_err(wrong)?, number(upper).map_err(wrong)?);
            ColumnBounds::Numeric { lower, upper }
        }
        (None, _) => ColumnBounds::Categorical { levels: levels(value).map_err(wrong)? },
    };
    let place = format!("the setting `bound` {flag}");
    bounds.set(&Subject::of(key), column_bounds, &At { place: &place, subject: key }).map(|_| ())
}

/// Splits at the first `=` that is not inside backticks.
fn split_key(flag: &str) -> Option<(&str, &str)> {
    let (mut quoted, mut escaped) = (false, false);
    for (at, c) in flag.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = quoted,
            '`' => quoted = !quoted,
            '=' if !quoted => return Some((flag[..at].trim(), flag[at + 1..].trim())),
            _ => {}
        }
    }
    None
}

fn number(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| format!("`{}` is not a number", text.trim()))
}

fn levels(text: &str) -> Result<Vec<String>, String> {
    let levels: Vec<String> = text.split(',').map(|level| level.trim().to_owned()).collect();
    if levels.iter().any(String::is_empty) { Err("a level is empty".to_owned()) } else { Ok(levels) }
}
