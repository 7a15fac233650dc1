//! The JSON Schemas of a release, generated from the types; older ones, which are read still, stand in `schemas/` as they were.

use serde_json::Value;

use crate::counts::{COUNTS_SCHEMA, CountRelease};
use crate::randomised::{RANDOMISED_SCHEMA, RandomisedRelease};
use crate::release::{Release, SCHEMA};

/// The JSON Schema of releases of sums, indented, with a final line break.
pub fn json_schema() -> String {
    finish(schemars::schema_for!(Release).to_value(), SCHEMA, "An Organza release")
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
