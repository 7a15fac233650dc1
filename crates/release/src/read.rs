//! Strict reading: any bytes give valid releases or an error that names the field.

use serde::Deserialize;

use crate::error::ReleaseError;
use crate::release::{Release, SCHEMA_2};

/// Reads a file that holds exactly one release. `source_name` is used in errors.
pub fn read_one(bytes: &[u8], source_name: &str) -> Result<Release, ReleaseError> {
    let mut releases = read_many(bytes, source_name)?;
    match (releases.pop(), releases.len()) {
        (Some(release), 0) => Ok(release),
        (_, others) => Err(syntax(source_name, "file", format!("holds {} releases, not one", others + 1))),
    }
}

/// Reads a file that holds one release, an array of releases, or one after the other (JSON lines).
pub fn read_many(bytes: &[u8], source_name: &str) -> Result<Vec<Release>, ReleaseError> {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let releases = match first {
        None => return Err(syntax(source_name, "file", "is empty, a release was expected")),
        Some(b'[') => read_values::<Vec<Release>>(bytes, source_name)?.into_iter().flatten().collect(),
        Some(_) => read_values::<Release>(bytes, source_name)?,
    };
    let several = releases.len() > 1;
    for (position, release) in releases.iter().enumerate() {
        let place =
            if several { format!("{source_name}, release {}", position + 1) } else { source_name.into() };
        release.validate().map_err(|error| error.within(&place))?;
    }
    Ok(releases)
}

/// Reads JSON values one after the other until the end of the text.
fn read_values<'b, T: Deserialize<'b>>(bytes: &'b [u8], source_name: &str) -> Result<Vec<T>, ReleaseError> {
    let mut values = Vec::new();
    let mut rest = bytes;
    while !rest.trim_ascii_start().is_empty() {
        let offset = bytes.len() - rest.len();
        let mut stream =
            serde_json::Deserializer::from_slice(rest).into_iter::<&serde_json::value::RawValue>();
        let raw = match stream.next() {
            Some(Ok(raw)) => raw,
            Some(Err(error)) => return Err(not_json(bytes, offset, error, source_name)),
            None => break,
        };
        values.push(read_value(raw.get(), source_name)?);
        rest = &rest[stream.byte_offset()..];
    }
    Ok(values)
}

fn read_value<'b, T: Deserialize<'b>>(text: &'b str, source_name: &str) -> Result<T, ReleaseError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        newer_schema(text, source_name).unwrap_or_else(|| {
            let path = error.path().to_string();
            let field = if path == "." { "release".to_string() } else { path };
            syntax(source_name, &field, without_position(&error.inner().to_string()))
        })
    })
}

/// A newer file fails on its new fields first; its schema is what a person must be told about.
fn newer_schema(text: &str, source_name: &str) -> Option<ReleaseError> {
    #[derive(Deserialize)]
    struct Peek {
        schema: String,
    }
    let found = serde_json::from_str::<Peek>(text).ok()?.schema;
    is_newer(&found).then(|| ReleaseError::NewerSchema {
        source_name: source_name.to_string(),
        found,
        supported: SCHEMA_2.to_string(),
    })
}

/// Whether a schema name is of this kind with a larger version number than this program knows.
pub(crate) fn is_newer(found: &str) -> bool {
    let version =
        |name: &str| name.strip_prefix("organza/release/").and_then(|text| text.parse::<u32>().ok());
    matches!((version(found), version(SCHEMA_2)), (Some(theirs), Some(ours)) if theirs > ours)
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
    ReleaseError::Syntax { source_name: source_name.into(), field: field.into(), reason: reason.into() }
}
