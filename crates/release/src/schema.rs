//! The JSON Schemas of a release, generated from the types.

use serde_json::Value;

use crate::counts::{COUNTS_SCHEMA, CountRelease};
use crate::randomised::{RANDOMISED_SCHEMA, RandomisedRelease};
use crate::release::{Release, SCHEMA, SCHEMA_2};

/// Kinds of statistics that the first schema has; a published schema never changes.
const FIRST_KINDS: [&str; 1] = ["gram"];

/// The JSON Schema of releases of the newest schema, indented, with a final line break.
///
/// It holds the kinds that the first schema cannot say; the others are still written in that: [`json_schema_1`].
pub fn json_schema() -> String {
    generate(SCHEMA_2, |kind| !FIRST_KINDS.contains(&kind))
}

/// The JSON Schema of releases of the first schema.
pub fn json_schema_1() -> String {
    generate(SCHEMA, |kind| FIRST_KINDS.contains(&kind))
}

/// The JSON Schema of noisy contingency tables.
pub fn json_schema_counts() -> String {
    let schema = schemars::schema_for!(CountRelease).to_value();
    finish(schema, COUNTS_SCHEMA, "An Organza release of counts")
}

/// The JSON Schema of randomised answers.
pub fn json_schema_randomised() -> String {
    let schema = schemars::schema_for!(RandomisedRelease).to_value();
    finish(schema, RANDOMISED_SCHEMA, "An Organza release of randomised answers")
}

fn generate(name: &str, has_kind: impl Fn(&str) -> bool) -> String {
    let mut schema = schemars::schema_for!(Release).to_value();
    if let Some(kinds) = schema["$defs"]["Statistic"]["oneOf"].as_array_mut() {
        kinds.retain(|kind| kind["properties"]["kind"]["const"].as_str().is_some_and(&has_kind));
    }
    finish(schema, name, "An Organza release")
}

/// Names the schema and makes it as strict as the reader.
fn finish(mut schema: Value, name: &str, title: &str) -> String {
    schema["$id"] = name.into();
    schema["title"] = title.into();
    schema["properties"]["schema"]["const"] = name.into();
    require_all_fields(&mut schema);
    format!("{schema:#}\n")
}

/// The reader wants every field, also those that may be null.
fn require_all_fields(schema: &mut Value) {
    if let Some(properties) = schema["properties"].as_object() {
        let names: Vec<Value> = properties.keys().cloned().map(Value::from).collect();
        schema["required"] = names.into();
    }
    match schema {
        Value::Object(fields) => fields.values_mut().for_each(require_all_fields),
        Value::Array(values) => values.iter_mut().for_each(require_all_fields),
        _ => {}
    }
}
