//! A fit as JSON has the form of `schemas/fit-2.json`.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::collections::BTreeSet;

use organza::infer::{MethodSpec, ModelSpec, fit, fit_schema};
use organza::mcmc::{Monitor, Plan};
use organza::release::read_many;
use serde_json::Value;

fn path(name: &str) -> String {
    format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Regenerate with `ORGANZA_BLESS=1 cargo test -p organza`.
#[test]
fn the_committed_schema_is_the_generated_one() {
    let generated = serde_json::to_string_pretty(&fit_schema()).unwrap() + "\n";
    if std::env::var_os("ORGANZA_BLESS").is_some() {
        std::fs::write(path("schemas/fit-2.json"), &generated).unwrap();
    }
    let committed = std::fs::read_to_string(path("schemas/fit-2.json")).unwrap();
    assert_eq!(committed, generated, "schemas/fit-2.json is out of date");
}

fn names<'v>(values: impl Iterator<Item = &'v String>) -> BTreeSet<&'v str> {
    values.map(String::as_str).collect()
}

/// Catches a field that is written and not described, or described and not written.
#[test]
fn a_fit_has_the_fields_that_the_schema_requires() {
    let file = path("crates/infer/tests/golden/gaussian.jsonl");
    let releases = read_many(&std::fs::read(&file).unwrap(), &file).unwrap();
    let plan = Plan { chains: 2, warmup: 50, draws: 50, ..Plan::default() };
    let found =
        fit(&MethodSpec::default(), &ModelSpec::default(), &releases, &plan, &Monitor::default()).unwrap();
    let (found, schema) =
        (serde_json::to_value(&found).unwrap(), serde_json::to_value(fit_schema()).unwrap());
    let written = names(found.as_object().unwrap().keys());
    assert_eq!(written, names(schema["properties"].as_object().unwrap().keys()));
    let required: Vec<String> = serde_json::from_value(schema["required"].clone()).unwrap();
    assert_eq!(written, names(required.iter()));
    assert_eq!((&found["schema"], &found["model"]), (&"organza/fit/2".into(), &"linear".into()));
    assert_eq!(schema["properties"]["schema"]["const"], Value::from("organza/fit/2"));
    assert_eq!(schema["properties"]["records"]["type"], serde_json::json!(["number", "null"]));
    assert!(found["noise_share"]["beta[age]"].is_f64());
}
