//! Reading is strict: each way to damage a file gives an error that names the field.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod common;

use common::{ada_ssp, averaged, ball, fourth_moments, scaled_box, with_statistic};
use organza_release::{
    COUNTS_SCHEMA, CountRelease, Document, Family, Kind, Neighbours, Norm, Release, ReleaseError, SCHEMA,
    Statistic, gram_entries, json_schema, json_schema_counts, json_schema_randomised, kind_of, read_many,
    read_one,
};
use serde_json::{Value, json};

fn read(value: &Value) -> Result<Release, ReleaseError> {
    read_one(value.to_string().as_bytes(), "north.json")
}

fn as_value(release: &Release) -> Value {
    serde_json::from_str(&release.to_json().unwrap()).unwrap()
}

#[test]
fn what_was_written_is_read_back() {
    for release in [scaled_box(), ball(), averaged(), ada_ssp(), fourth_moments()] {
        assert_eq!(read_one(release.to_json().unwrap().as_bytes(), "f").unwrap(), release);
    }
}

#[test]
fn each_damage_names_its_field() {
    let cases: Vec<(&str, Value, &str)> = vec![
        ("/schema", json!("organza/other/1"), "schema: must be"),
        ("/party", json!("  "), "party: must name"),
        ("/created", json!("yesterday"), "created: must be a UTC time"),
        ("/records", json!(0), "records: must be at least 1"),
        ("/records", json!(-3), "records: invalid value"),
        ("/records", json!(null), "records: must be given"),
        ("/domain/kind", json!("sphere"), "domain"),
        ("/domain/record_scale", json!(0.0), "domain.record_scale: must be positive"),
        ("/domain/intercept_weight", json!(-1.0), "domain.intercept_weight: must be positive"),
        ("/domain/features/0/lower", json!(7.0), "domain.features[0].lower: 7 must be less"),
        ("/domain/features/1/name", json!("x1"), "domain.features: \"x1\" is given twice"),
        ("/domain/features/1/name", json!("y"), "domain.response: is also among the features"),
        ("/domain/columns/0/upper", json!(-9.0), "domain.columns[0].lower"),
        ("/domain/intercept", json!(false), "domain.features[0].lower: without an intercept"),
        (
            "/statistic/entries/1",
            json!([0, 0]),
            "statistic.entries[1]: the symmetric entry [0, 0] is given twice",
        ),
        ("/statistic/entries/1", json!([1, 0]), "statistic.entries[1]: [1, 0] must be written [0, 1]"),
        ("/statistic/entries/1", json!([0, 9]), "statistic.entries[1]: [0, 9] is outside"),
        ("/statistic/entries", json!([[0, 0]]), "statistic.entries: [0, 1] is missing"),
        ("/statistic/layout", json!("diagonal"), "statistic"),
        ("/value", json!([1.0]), "value: has 1 numbers for 10 entries"),
        ("/value/2", json!("3"), "value[2]: invalid type"),
        ("/noise/scales/3", json!(0.0), "noise.scales[3]: must be positive"),
        ("/noise/scales", json!([1.0, 2.0]), "noise.scales: has 2 numbers"),
        ("/noise/lattice", json!(-400), "noise.lattice: must be an exponent"),
        ("/noise/family", json!("cauchy"), "noise.family: unknown variant"),
        ("/privacy/epsilon", json!(0), "privacy.epsilon: must be positive"),
        ("/privacy/delta", json!(0), "privacy.delta: must be between 0 and 1"),
        ("/privacy/norm", json!("l1"), "privacy.norm: must be l2 for gaussian noise"),
        ("/privacy/neighbours", json!("add-remove"), "records: must be null"),
    ];
    each_is_refused(&scaled_box(), cases);
}

/// Each damage at a pointer gives an error that starts like this.
fn each_is_refused(release: &Release, cases: Vec<(&str, Value, &str)>) {
    for (pointer, damage, expected) in cases {
        let mut value = as_value(release);
        *value.pointer_mut(pointer).expect(pointer) = damage;
        let message = read(&value).expect_err(pointer).to_string();
        assert!(message.starts_with(&format!("north.json: {expected}")), "{pointer}: {message}");
    }
}

#[test]
fn each_damage_to_averaged_records_names_its_field() {
    let cases = vec![
        ("/schema", json!("organza/release/1"), "schema: must be \"organza/release/3\""),
        ("/statistic/averaged", json!(1), "statistic.averaged: must be at least 2"),
        ("/statistic/averaged", json!(-1), "statistic"),
        ("/statistic/averaged", json!(251), "statistic.averaged: 251 is more than there are records"),
        ("/statistic/entries", json!([[0, 0]]), "statistic.entries: [0, 1] is missing"),
        ("/statistic/kind", json!("gram"), "statistic: unknown field `averaged`"),
    ];
    each_is_refused(&averaged(), cases);
    let mut confidential = averaged();
    confidential.privacy.neighbours = Neighbours::AddRemove;
    confidential.records = None;
    assert!(confidential.validate().unwrap_err().to_string().contains("shift all later groups"));
    let Statistic::AveragedGram { averaged, layout, .. } = averaged().statistic else { panic!("averaged") };
    let domain = scaled_box().domain;
    let entries = gram_entries(&domain, true, true);
    let constant = with_statistic(domain, Statistic::AveragedGram { averaged, entries, layout });
    assert!(constant.validate().unwrap_err().to_string().starts_with("domain.intercept: averaged records"));
}

#[test]
fn each_damage_to_the_parts_of_ada_ssp_names_its_field() {
    let cases = vec![
        ("/schema", json!("organza/release/1"), "schema: must be \"organza/release/3\""),
        ("/value", json!([1.0]), "value: has 1 numbers for 10 entries"),
        ("/statistic/entries", json!([[0, 0]]), "statistic.entries: [0, 1] is missing"),
        ("/statistic/entries/0", json!([3, 3]), "statistic.entries: the squared response is no part"),
        ("/statistic/kind", json!("fourth-moments"), "statistic"),
    ];
    each_is_refused(&ada_ssp(), cases);
    let mut pure = ada_ssp();
    (pure.noise.family, pure.privacy.norm, pure.privacy.delta) = (Family::Laplace, Norm::L1, 0.0);
    assert!(pure.validate().unwrap_err().to_string().starts_with("noise.family: must be \"gaussian\""));
    let mut confidential = ada_ssp();
    (confidential.privacy.neighbours, confidential.records) = (Neighbours::AddRemove, None);
    assert!(confidential.validate().unwrap_err().to_string().starts_with("privacy.neighbours: must be"));
}

#[test]
fn each_damage_to_fourth_moments_names_its_field() {
    let cases = vec![
        ("/statistic/entries/1", json!([0, 0, 1, 0]), "statistic.entries[1]: must be [0, 0, 0, 2]"),
        ("/statistic/entries", json!([[0, 0, 0, 1]]), "statistic.entries: must be all 14 of 2 features"),
        ("/domain/record_scale", json!(1.0), "domain: must be a box with an intercept"),
        ("/domain/response_weight", json!(0.5), "domain.intercept_weight: unscaled records"),
    ];
    each_is_refused(&fourth_moments(), cases);
    let mut ball = ball();
    (ball.statistic, ball.schema) = (fourth_moments().statistic, fourth_moments().schema);
    assert!(ball.validate().unwrap_err().to_string().starts_with("domain: must be a box"));
}

/// Laplace noise of scale s/sqrt(2) off the diagonal would cost more than the upper layout's sensitivity says.
#[test]
fn laplace_noise_has_the_upper_layout() {
    let mut release = scaled_box();
    (release.noise.family, release.privacy.norm, release.privacy.delta) = (Family::Laplace, Norm::L1, 0.0);
    assert!(release.validate().unwrap_err().to_string().starts_with("statistic.layout: must be \"upper\""));
}

#[test]
fn unknown_and_missing_fields_are_refused() {
    for object in ["", "/domain", "/domain/features/0", "/statistic", "/noise", "/privacy", "/tool"] {
        let mut value = as_value(&scaled_box());
        let fields = value.pointer_mut(object).unwrap().as_object_mut().unwrap();
        fields.insert("surprise".into(), json!(1));
        let message = read(&value).expect_err(object).to_string();
        assert!(message.contains("surprise"), "{object}: {message}");
        let mut value = as_value(&scaled_box());
        let fields = value.pointer_mut(object).unwrap().as_object_mut().unwrap();
        for name in fields.keys().cloned().collect::<Vec<_>>() {
            let mut value = as_value(&scaled_box());
            value.pointer_mut(object).unwrap().as_object_mut().unwrap().remove(&name);
            let message = read(&value).expect_err(object).to_string();
            assert!(message.contains(&name), "{object} without {name}: {message}");
        }
    }
}

#[test]
fn texts_that_are_not_releases() {
    let say = |text: &str| read_many(text.as_bytes(), "f").unwrap_err().to_string();
    assert_eq!(say("  \n"), "f: file: is empty, a release was expected");
    assert!(say("\n{\"a\": }").starts_with("f: line 2, column 7: is not JSON"), "{}", say("\n{\"a\": }"));
    assert!(say("7").starts_with("f: release: invalid type"), "{}", say("7"));
    let huge = scaled_box().to_json().unwrap().replace("\"epsilon\": 1.0", "\"epsilon\": 1e999");
    assert!(say(&huge).contains("number out of range"), "{}", say(&huge));
    let twice = scaled_box().to_json().unwrap().replace("\"party\"", "\"party\": \"a\", \"party\"");
    assert!(say(&twice).contains("duplicate field `party`"), "{}", say(&twice));
}

#[test]
fn a_newer_schema_asks_for_a_newer_version() {
    let mut value = as_value(&scaled_box());
    value["schema"] = json!("organza/release/4");
    value["new_field"] = json!(1);
    let message = read(&value).unwrap_err().to_string();
    assert!(message.contains("newer than") && message.contains("install a newer organza"), "{message}");
}

/// Written by the versions before: bounds that are public were called `private_bounds: true`.
const OLD: [&str; 3] = [
    include_str!("golden/release-1.json"),
    include_str!("golden/release-2.json"),
    include_str!("golden/counts-1.json"),
];

fn bounds_of(text: &str) -> Result<(String, bool), ReleaseError> {
    if kind_of(text.as_bytes()) == Some(Kind::Counts) {
        return CountRelease::read_one(text.as_bytes(), "f").map(|it| (it.schema, it.privacy.public_bounds));
    }
    read_one(text.as_bytes(), "f").map(|it| (it.schema, it.privacy.public_bounds))
}

#[test]
fn older_schemas_are_read_with_their_meaning() {
    for text in OLD {
        let (schema, public) = bounds_of(text).unwrap();
        assert!([SCHEMA, COUNTS_SCHEMA].contains(&schema.as_str()) && public, "{schema}");
        let void = text.replace("\"private_bounds\": true", "\"private_bounds\": false");
        assert!(!bounds_of(&void).unwrap().1);
        let mixed = text.replace("private_bounds", "public_bounds");
        let told = bounds_of(&mixed).unwrap_err().to_string();
        assert!(
            told.starts_with("f: privacy: organza/") && told.contains("has the field `private_bounds`"),
            "{told}"
        );
    }
    let new = scaled_box().to_json().unwrap();
    assert!(new.contains("\"public_bounds\": true"));
    let told = bounds_of(&new.replace("public_bounds", "private_bounds")).unwrap_err().to_string();
    assert_eq!(told, "f: privacy: organza/release/3 has the field `public_bounds`");
    // One of each in an array, and the second of them wrong.
    let two = |second: &str| read_many(format!("[{},{second}]", OLD[0]).as_bytes(), "f");
    assert_eq!(two(&new).unwrap().len(), 2);
    let told = two(&new.replace("public_bounds", "private_bounds")).unwrap_err().to_string();
    assert!(told.starts_with("f, release 2: privacy"), "{told}");
}

#[test]
fn many_releases_in_one_file() {
    let line = scaled_box().to_json_line().unwrap();
    let two_lines = format!("{line}{line}");
    assert_eq!(read_many(two_lines.as_bytes(), "f").unwrap().len(), 2);
    let array = format!("[{},{}]", line.trim(), line.trim());
    assert_eq!(read_many(array.as_bytes(), "f").unwrap().len(), 2);
    assert!(
        read_one(two_lines.as_bytes(), "f").unwrap_err().to_string().contains("holds 2 releases, not one")
    );
    let broken = two_lines.replacen("north", " ", 1);
    assert!(read_many(broken.as_bytes(), "f").unwrap_err().to_string().starts_with("f, release 1: party"));
}

#[test]
fn an_invalid_release_cannot_be_written() {
    let mut release = scaled_box();
    release.value[0] = f64::NAN;
    assert_eq!(release.to_json().unwrap_err().to_string(), "value[0]: must be finite, found NaN");
}

/// Regenerate with `ORGANZA_BLESS=1 cargo test -p organza-release`; a published schema is never edited in place.
#[test]
fn the_committed_schemas_are_the_generated_ones() {
    let schemas = [
        ("release-3.json", json_schema()),
        ("counts-2.json", json_schema_counts()),
        ("randomised-1.json", json_schema_randomised()),
    ];
    for (name, generated) in schemas {
        let path = format!("{}/../../schemas/{name}", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("ORGANZA_BLESS").is_some() {
            std::fs::write(&path, &generated).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap(), generated, "schemas/{name} is out of date");
    }
}

/// The schema is as strict as the reader: every object lists its fields, requires all of them and allows no others.
#[test]
fn the_schema_is_as_strict_as_the_reader() {
    fn walk(schema: &Value, objects: &mut usize) {
        if let Some(properties) = schema["properties"].as_object() {
            *objects += 1;
            let closed = schema["additionalProperties"] == false;
            assert!(closed, "open object: {schema}");
            let required = schema["required"].as_array().map_or(0, Vec::len);
            assert_eq!(required, properties.len(), "optional fields: {schema}");
        }
        match schema {
            Value::Object(fields) => fields.values().for_each(|value| walk(value, objects)),
            Value::Array(values) => values.iter().for_each(|value| walk(value, objects)),
            _ => {}
        }
    }
    let schemas = [(json_schema(), 10), (json_schema_counts(), 5), (json_schema_randomised(), 4)];
    for (schema, least) in schemas {
        let mut objects = 0;
        walk(&serde_json::from_str(&schema).unwrap(), &mut objects);
        assert!(objects >= least, "only {objects} objects were found");
    }
}
