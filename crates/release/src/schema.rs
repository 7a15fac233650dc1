//! The JSON Schema of a release, generated from the types.

use serde_json::Value;

use crate::release::{Release, SCHEMA};

/// The JSON Schema of a release file, indented, with a final line break.
pub fn json_schema() -> String {
    let mut schema = schemars::schema_for!(Release).to_value();
    schema["$id"] = SCHEMA.into();
    schema["title"] = "An Organza release".into();
    schema["properties"]["schema"]["const"] = SCHEMA.into();
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
