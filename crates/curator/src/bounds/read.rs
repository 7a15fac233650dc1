//! Bounds from TOML text.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{At, Bounds, BoundsError, ColumnBounds, Subject, repeated, write::table_header};

/// The longest file of bounds, in bytes.
const LONGEST: usize = 16 << 20;

pub(super) fn from_toml(text: &str, source_name: &str) -> Result<Bounds, BoundsError> {
    let line_ends = text.match_indices('\n').map(|(at, _)| at).collect();
    let source = Source { text, name: source_name, line_ends };
    if text.len() > LONGEST {
        let message = format!("a file of bounds may have {LONGEST} bytes at most");
        return Err(BoundsError::Toml { place: source_name.to_owned(), message });
    }
    let document = DeTable::parse(text).map_err(|error| BoundsError::Toml {
        place: source.place(error.span().unwrap_or(0..0)),
        message: error.message().to_owned(),
    })?;
    let mut bounds = Bounds::default();
    for (key, value) in document.get_ref() {
        let place = source.place(key.span());
        let column = key.get_ref().to_string();
        let DeValue::Table(table) = value.get_ref() else {
            let (header, found) = (table_header(&column), described(value.get_ref()));
            return Err(BoundsError::NotATable { place, column, header, found });
        };
        let entry = Entry::read(&source, &place, &column, table)?;
        let at = At { place: &entry.place, subject: &column };
        if bounds.set(&Subject::of(&column), entry.bounds, &at)? {
            return Err(BoundsError::Duplicate { place, column });
        }
    }
    Ok(bounds)
}

struct Source<'a> {
    text: &'a str,
    name: &'a str,
    /// Offsets of all line feeds.
    line_ends: Vec<usize>,
}

impl Source<'_> {
    /// `file:line:column`, both from 1.
    fn place(&self, span: Range<usize>) -> String {
        let line = self.line_ends.partition_point(|end| *end < span.start);
        let begin = if line == 0 { 0 } else { self.line_ends[line - 1] + 1 };
        let column = self.text.get(begin..span.start).map_or(0, |before| before.chars().count());
        format!("{}:{}:{}", self.name, line + 1, column + 1)
    }
}

/// The bounds of one table, and the place of the value that decides whether they are good.
struct Entry {
    bounds: ColumnBounds,
    place: String,
}

impl Entry {
    fn read(
        source: &Source<'_>,
        place: &str,
        column: &str,
        table: &DeTable<'_>,
    ) -> Result<Self, BoundsError> {
        for (key, value) in table {
            check_key(source, column, key.get_ref(), key.span(), value.get_ref())?;
        }
        let missing = |missing: &'static str| BoundsError::Missing {
            place: place.to_owned(),
            column: column.to_owned(),
            missing,
        };
        match (table.get("lower"), table.get("upper"), table.get("levels")) {
            (None, None, Some(levels)) => Self::levels(source, column, levels),
            (Some(lower), Some(upper), None) => {
                let lower_value = number(source, column, "lower", lower)?;
                let upper_value = number(source, column, "upper", upper)?;
                let decisive =
                    if lower_value.is_finite() && !upper_value.is_finite() { upper } else { lower };
                let bounds = ColumnBounds::Numeric { lower: lower_value, upper: upper_value };
                Ok(Self { bounds, place: source.place(decisive.span()) })
            }
            (_, _, Some(levels)) => {
                let place = source.place(levels.span());
                Err(BoundsError::BoundsAndLevels { place, column: column.to_owned() })
            }
            (Some(_), None, None) => Err(missing("upper")),
            (None, Some(_), None) => Err(missing("lower")),
            (None, None, None) => Err(missing("bounds and no levels")),
        }
    }

    fn levels(source: &Source<'_>, column: &str, value: &Spanned<DeValue<'_>>) -> Result<Self, BoundsError> {
        let DeValue::Array(items) = value.get_ref() else {
            return Err(wrong_type(source, column, "levels", value));
        };
        let mut levels = Vec::new();
        for item in items.iter() {
            levels.push(match item.get_ref() {
                DeValue::String(text) => text.to_string(),
                DeValue::Integer(number) if number.radix() == 10 => number.as_str().to_owned(),
                DeValue::Float(number) => number.as_str().to_owned(),
                _ => return Err(wrong_type(source, column, "a level", item)),
            });
        }
        let decisive =
            repeated(&levels).and_then(|index| items.get(index)).map_or(value.span(), Spanned::span);
        Ok(Self { bounds: ColumnBounds::Categorical { levels }, place: source.place(decisive) })
    }
}

fn check_key(
    source: &Source<'_>,
    column: &str,
    key: &str,
    span: Range<usize>,
    value: &DeValue<'_>,
) -> Result<(), BoundsError> {
    let (place, column, key) = (source.place(span), column.to_owned(), key.to_owned());
    match key.as_str() {
        "lower" | "upper" | "levels" => Ok(()),
        _ if value.is_table() => {
            let header = format!("[\"{column}.{key}\"]");
            Err(BoundsError::NestedTable { place, column, key, header })
        }
        _ => Err(BoundsError::UnknownKey { place, column, key }),
    }
}

fn number(
    source: &Source<'_>,
    column: &str,
    key: &'static str,
    value: &Spanned<DeValue<'_>>,
) -> Result<f64, BoundsError> {
    let parsed = match value.get_ref() {
        DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
        DeValue::Float(number) => number.as_str().parse().ok(),
        _ => None,
    };
    parsed.ok_or_else(|| wrong_type(source, column, key, value))
}

fn wrong_type(
    source: &Source<'_>,
    column: &str,
    key: &'static str,
    value: &Spanned<DeValue<'_>>,
) -> BoundsError {
    let expected = match key {
        "levels" => "a list such as [\"a\", \"b\"]",
        "a level" => "a text in quotes or a decimal number",
        _ => "a decimal number",
    };
    let (place, column) = (source.place(value.span()), column.to_owned());
    BoundsError::WrongType { place, column, key, found: described(value.get_ref()), expected }
}

fn described(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
