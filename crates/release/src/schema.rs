//! The JSON Schema of a release, generated from the types.

use crate::release::{Release, SCHEMA};

/// The JSON Schema of a release file, indented, with a final line break.
pub fn json_schema() -> String {
    let mut schema = schemars::schema_for!(Release);
    schema.insert("$id".into(), SCHEMA.into());
    schema.insert("title".into(), "An Organza release".into());
    format!("{:#}\n", schema.to_value())
}
