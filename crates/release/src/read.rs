//! Strict reading: any bytes give valid releases or an error that names the field.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::document::{Document, Kind};
use crate::error::ReleaseError;
use crate::printable::printable;
use crate::release::Release;

/// Reads a file that holds exactly one release. `source_name` is used in errors.
pub fn read_one(bytes: &[u8], source_name: &str) -> Result<Release, ReleaseError> {
    one(bytes, source_name)
}

/// Reads a file that holds one release, an array of releases, or one after the other (JSON lines).
pub fn read_many(bytes: &[u8], source_name: &str) -> Result<Vec<Release>, ReleaseError> {
    many(bytes, source_name)
}

/// Which kind of release a file begins with; none if its first value has no schema that this version knows.
///
/// Nothing else of the file is checked: this is to choose the reader, which then says what is wrong.
pub fn kind_of(bytes: &[u8]) -> Option<Kind> {
    let start = bytes.trim_ascii_start();
    let start = start.strip_prefix(b"[").unwrap_or(start);
    let mut stream = serde_json::Deserializer::from_slice(start).into_iter::<&RawValue>();
    Kind::of_schema(&schema_of(stream.next()?.ok()?.get())?)
}

pub(crate) fn one<D: Document>(bytes: &[u8], source_name: &str) -> Result<D, ReleaseError> {
    let mut releases = many(bytes, source_name)?;
    match (releases.pop(), releases.len()) {
        (Some(release), 0) => Ok(release),
        (_, others) => Err(syntax(source_name, "file", format!("holds {} releases, not one", others + 1))),
    }
}

pub(crate) fn many<D: Document>(bytes: &[u8], source_name: &str) -> Result<Vec<D>, ReleaseError> {
    let mut releases = Vec::new();
    each(bytes, source_name, |release| {
        releases.push(release);
        Ok::<_, ReleaseError>(())
    })?;
    Ok(releases)
}

/// Reads and checks one release after the other, so that no more than one need be in memory.
pub(crate) fn each<D: Document, E: From<ReleaseError>>(
    bytes: &[u8],
    source_name: &str,
    mut visit: impl FnMut(D) -> Result<(), E>,
) -> Result<(), E> {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let (mut rest, mut position) = (bytes, 0);
    if first.is_none() {
        return Err(syntax(source_name, "file", "is empty, a release was expected").into());
    }
    while !rest.trim_ascii_start().is_empty() {
        let offset = bytes.len() - rest.len();
        let mut stream = serde_json::Deserializer::from_slice(rest).into_iter::<&RawValue>();
        let raw = match stream.next() {
            Some(Ok(raw)) => raw,
            Some(Err(error)) => return Err(not_json(bytes, offset, error, source_name).into()),
            None => break,
        };
        rest = &rest[stream.byte_offset()..];
        let found = match first {
            Some(b'[') => read_value::<Vec<D>>(raw.get(), source_name, D::KIND)?,
            _ => vec![read_value::<D>(raw.get(), source_name, D::KIND)?],
        };
        let several = position + found.len() > 1 || !rest.trim_ascii_start().is_empty();
        for (mut release, says) in found.into_iter().zip(peeks(raw.get(), first == Some(&b'['))) {
            position += 1;
            let place = || match several {
                true => format!("{source_name}, release {position}"),
                false => source_name.into(),
            };
            let is_old = release.upgrade();
            release.validate().map_err(|error| error.within(&place()))?;
            if says.privacy.private_bounds.is_some() != is_old {
                let name = if is_old { "private_bounds" } else { "public_bounds" };
                return Err(
                    syntax(&place(), "privacy", format!("{} has the field `{name}`", says.schema)).into()
                );
            }
            visit(release)?;
        }
    }
    Ok(())
}

fn read_value<'b, T: Deserialize<'b>>(
    text: &'b str,
    source_name: &str,
    wanted: Kind,
) -> Result<T, ReleaseError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        unreadable_schema(text, source_name, wanted).unwrap_or_else(|| {
            let path = error.path().to_string();
            let field = if path == "." { "release".to_string() } else { path };
            syntax(source_name, &field, without_position(&error.inner().to_string()))
        })
    })
}

/// A newer file, or one of another kind, fails on its other fields first; its schema is what a person must be told about.
fn unreadable_schema(text: &str, source_name: &str, wanted: Kind) -> Option<ReleaseError> {
    let in_array = |text: &str| {
        let values = serde_json::from_str::<Vec<&RawValue>>(text).ok()?;
        values.iter().find_map(|value| schema_of(value.get()))
    };
    let schema = schema_of(text).or_else(|| in_array(text))?;
    let found = Kind::of_schema(&schema)?;
    if found != wanted {
        return Some(ReleaseError::OtherKind { source_name: source_name.to_string(), found, wanted });
    }
    wanted.is_newer(&schema).then(|| wanted.newer_schema(source_name, &schema))
}

/// What tells an old release from a new one.
#[derive(Deserialize)]
struct Peek {
    schema: String,
    #[serde(default)]
    privacy: PeekPrivacy,
}

#[derive(Deserialize, Default)]
struct PeekPrivacy {
    private_bounds: Option<IgnoredAny>,
}

/// One for each release of a text that was read already.
fn peeks(text: &str, array: bool) -> Vec<Peek> {
    let one = |text| serde_json::from_str(text).map(|peek| vec![peek]);
    if array { serde_json::from_str(text) } else { one(text) }.unwrap_or_default()
}

fn schema_of(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Peek {
        schema: String,
    }
    Some(serde_json::from_str::<Peek>(text).ok()?.schema)
}

fn not_json(bytes: &[u8], offset: usize, error: serde_json::Error, source_name: &str) -> ReleaseError {
    // serde_json counts lines from the start of the value; a person counts from the start of the file.
    let lines_before = bytes[..offset].iter().filter(|&&byte| byte == b'\n').count();
    let place = format!("line {}, column {}", lines_before + error.line(), error.column());
    syntax(source_name, &place, format!("is not JSON: {}", without_position(&error.to_string())))
}

/// Positions inside a nested value mislead, the field's path says where.
fn without_position(message: &str) -> String {
    message.split(" at line ").next().unwrap_or(message).to_string()
}

fn syntax(source_name: &str, field: &str, reason: impl Into<String>) -> ReleaseError {
    ReleaseError::Syntax {
        source_name: source_name.into(),
        field: printable(field).into(),
        reason: printable(&reason.into()).into(),
    }
}
