//! A summary as JSON has the form that `schemas/draws-1.json` describes.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod support;

use organza_mcmc::{Draws, Nuts, Plan, Summary, run};
use serde_json::{Value, json};
use support::targets::HalfNormal;

fn schema() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/draws-1.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// What is wrong with `value`, at which place: the part of JSON Schema that our schema uses.
fn faults(schema: &Value, rule: &Value, value: &Value, place: &str) -> Vec<String> {
    if let Some(reference) = rule["$ref"].as_str() {
        let rule = schema.pointer(reference.trim_start_matches('#')).unwrap();
        return faults(schema, rule, value, place);
    }
    let mut found = Vec::new();
    let types = rule["type"].as_array().cloned().unwrap_or_else(|| vec![rule["type"].clone()]);
    if !types.iter().any(|name| has_type(name.as_str().unwrap(), value)) {
        found.push(format!("{place}: {value} is not {types:?}"));
    }
    if rule.get("const").is_some_and(|constant| constant != value)
        || rule.get("enum").is_some_and(|values| !values.as_array().unwrap().contains(value))
    {
        found.push(format!("{place}: {value} is not allowed"));
    }
    for (number, item) in value.as_array().into_iter().flatten().enumerate() {
        found.extend(faults(schema, &rule["items"], item, &format!("{place}/{number}")));
    }
    let Some(fields) = value.as_object() else { return found };
    for name in rule["required"].as_array().unwrap() {
        if !fields.contains_key(name.as_str().unwrap()) {
            found.push(format!("{place}: {name} is missing"));
        }
    }
    for (name, field) in fields {
        match rule["properties"].get(name) {
            None => found.push(format!("{place}: {name:?} is not described")),
            Some(rule) => found.extend(faults(schema, rule, field, &format!("{place}/{name}"))),
        }
    }
    found
}

fn has_type(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        _ => false,
    }
}

fn written(summary: &Summary) -> Value {
    serde_json::from_str(&serde_json::to_string(summary).unwrap()).unwrap()
}

fn assert_valid(value: &Value) {
    let schema = schema();
    assert_eq!(faults(&schema, &schema, value, ""), Vec::<String>::new());
}

#[test]
fn summaries_have_the_form_of_the_schema() {
    let plan = Plan { warmup: 100, draws: 100, ..Plan::default() };
    let draws = run(&Nuts::for_plan(&plan), &&HalfNormal, &plan).unwrap();
    let value = written(&Summary::new(&draws, 0.9).unwrap());
    assert_valid(&value);
    assert_eq!(value["schema"], "organza/draws/1");
    assert_eq!(value["divergences"], 0.0);
    assert_eq!(value["energy_fractions"].as_array().unwrap().len(), 4);
    assert!(value["parameters"][1]["r_hat"].is_number());
}

#[test]
fn undefined_and_infinite_numbers_are_null() {
    let names = || vec!["a".to_string()];
    let constant = Draws::from_values(names(), 2, vec![0.1; 40]).unwrap();
    let stuck = Draws::from_values(names(), 2, [[0.1; 20], [0.2; 20]].concat()).unwrap();
    let empty = Draws::from_values(vec![], 0, vec![]).unwrap();
    for draws in [&constant, &stuck, &empty] {
        let value = written(&Summary::new(draws, 0.5).unwrap());
        assert_valid(&value);
        assert_eq!(value["divergences"], Value::Null);
        assert_eq!(value["parameters"].get(0).map_or(&Value::Null, |row| &row["r_hat"]), &Value::Null);
    }
    assert_eq!(written(&Summary::new(&constant, 0.5).unwrap())["parameters"][0]["ess_bulk"], 40.0);
}

/// The check itself: every way to be wrong is seen.
#[test]
fn other_forms_are_refused() {
    let draws = Draws::from_values(vec!["a".to_string()], 2, (0..40).map(f64::from).collect()).unwrap();
    let good = written(&Summary::new(&draws, 0.5).unwrap());
    let schema = schema();
    let refused = |pointer: &str, value: Value| {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap() = value;
        assert_eq!(faults(&schema, &schema, &bad, "").len(), 1, "{pointer}");
    };
    refused("/schema", json!("organza/draws/2"));
    refused("/records/1/end", json!("failed"));
    refused("/records/0/draws", json!(1.5));
    refused("/parameters/0/name", json!(null));
    refused("/parameters/0/highest_density/lower", json!("0"));
    let mut bad = good.clone();
    bad["parameters"][0].as_object_mut().unwrap().remove("mean");
    bad.as_object_mut().unwrap().insert("more".to_string(), json!(1));
    assert_eq!(faults(&schema, &schema, &bad, "").len(), 2);
}
