//! Releases of counts: strict reading, the shape of tables, sensitivities and claims.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

#[path = "common/tables.rs"]
#[allow(dead_code, reason = "each test uses some of it")]
mod tables;

use organza_release::sensitivity;
use organza_release::*;
use serde_json::{Value, json};
use tables::{columns, confidential, counts, gaussian};

fn as_value(release: &CountRelease) -> Value {
    serde_json::from_str(&release.to_json().unwrap()).unwrap()
}

fn each_is_refused(release: &CountRelease, cases: Vec<(&str, Value, &str)>) {
    for (pointer, damage, expected) in cases {
        let mut value = as_value(release);
        *value.pointer_mut(pointer).expect(pointer) = damage;
        let message =
            CountRelease::read_one(value.to_string().as_bytes(), "f").expect_err(pointer).to_string();
        assert!(message.starts_with(&format!("f: {expected}")), "{pointer}: {message}");
    }
}

#[test]
fn what_was_written_is_read_back() {
    for release in [counts(), confidential(), gaussian()] {
        assert_eq!(CountRelease::read_one(release.to_json().unwrap().as_bytes(), "f").unwrap(), release);
        let lines = release.to_json_line().unwrap().repeat(3);
        assert_eq!(CountRelease::read_many(lines.as_bytes(), "f").unwrap().len(), 3);
    }
}

#[test]
fn each_damage_names_its_field() {
    let cases = vec![
        ("/schema", json!("organza/counts/0"), "schema: must be \"organza/counts/1\""),
        ("/party", json!(""), "party: must name"),
        ("/created", json!("noon"), "created: must be a UTC time"),
        ("/records", json!(null), "records: must be given"),
        ("/records", json!(0), "records: must be at least 1"),
        ("/missing", json!("midpoint"), "missing: must be refused or dropped"),
        ("/columns/0/name", json!("ill"), "columns: \"ill\" is given twice"),
        ("/columns/0/name", json!(" "), "columns[0].name: must not be empty"),
        ("/columns/1/levels", json!(["no"]), "columns[1].levels: must hold at least two"),
        ("/columns/1/levels", json!(["no", "no"]), "columns[1].levels: \"no\" is given twice"),
        ("/tables", json!([]), "tables: must hold at least one"),
        ("/tables/1", json!([]), "tables[1]: is the number of records"),
        ("/tables/1", json!(["sex", "age"]), "tables[1][1]: \"age\" is not among the columns"),
        ("/tables/1", json!(["sex", "sex"]), "tables[1]: \"sex\" is given twice"),
        ("/tables/1", json!(["ill", "site"]), "tables[1]: has the columns of an earlier table"),
        ("/tables", json!([["site", "ill"]]), "columns[2]: is in no table"),
        ("/value", json!([1.0]), "value: has 1 numbers for 10"),
        ("/value/3", json!(0.5), "value[3]: must be a whole number"),
        ("/value/3", json!("1"), "value[3]: invalid type"),
        ("/noise/scale", json!(0), "noise.scale: must be positive"),
        ("/noise/family", json!("cauchy"), "noise.family: unknown variant"),
        ("/noise/family", json!("discrete-gaussian"), "privacy.delta: must be between 0 and 1"),
        ("/privacy/epsilon", json!(-1), "privacy.epsilon: must be positive"),
        ("/privacy/delta", json!(0.1), "privacy.delta: must be 0 for Laplace noise"),
        ("/privacy/norm", json!("l2"), "privacy.norm: must be l1"),
        ("/privacy/neighbours", json!("add-remove"), "records: must be null"),
    ];
    each_is_refused(&counts(), cases);
    each_is_refused(&confidential(), vec![("/records", json!(9), "records: must be null")]);
}

#[test]
fn unknown_and_missing_fields_are_refused() {
    for object in ["", "/columns/0", "/noise", "/privacy", "/tool"] {
        let whole = as_value(&counts());
        let names: Vec<String> =
            whole.pointer(object).unwrap().as_object().unwrap().keys().cloned().collect();
        for name in names {
            let mut value = whole.clone();
            value.pointer_mut(object).unwrap().as_object_mut().unwrap().remove(&name);
            let message = CountRelease::read_one(value.to_string().as_bytes(), "f").unwrap_err().to_string();
            assert!(message.contains(&name), "{object} without {name}: {message}");
        }
        let mut value = whole;
        value.pointer_mut(object).unwrap().as_object_mut().unwrap().insert("surprise".into(), json!(1));
        let message = CountRelease::read_one(value.to_string().as_bytes(), "f").unwrap_err().to_string();
        assert!(message.contains("surprise"), "{object}: {message}");
    }
}

#[test]
fn kinds_are_told_apart_and_newer_files_ask_for_a_newer_version() {
    let text = counts().to_json().unwrap();
    assert_eq!(kind_of(text.as_bytes()), Some(Kind::Counts));
    assert_eq!(kind_of(format!(" [{text}]").as_bytes()), Some(Kind::Counts));
    assert_eq!(kind_of(b"{\"schema\": \"organza/release/1\"}"), Some(Kind::Sums));
    assert_eq!(kind_of(b"{\"schema\": \"organza/randomised/7\"}"), Some(Kind::Randomised));
    for nothing in [&b"{}"[..], b"", b"[", b"{\"schema\": 3}", b"{\"schema\": \"other/1\"}", b"\xff\xfe"] {
        assert_eq!(kind_of(nothing), None);
    }
    let message = read_many(text.as_bytes(), "c.json").unwrap_err().to_string();
    assert_eq!(message, "c.json: is a release of counts, not a release of sums");
    let array = format!("[{text}]");
    assert!(read_many(array.as_bytes(), "c").unwrap_err().to_string().contains("a release of counts"));
    let newer = text.replace("organza/counts/1", "organza/counts/2").replacen('{', "{\"more\": 1,", 1);
    let message = CountRelease::read_one(newer.as_bytes(), "c").unwrap_err().to_string();
    assert!(message.contains("install a newer organza"), "{message}");
}

/// The last column changes fastest: catches a transposed table.
#[test]
fn cells_are_where_they_are_said_to_be() {
    let release = confidential();
    assert_eq!((0..3).map(|table| release.cells(table)).collect::<Vec<_>>(), [6, 4, 1]);
    assert_eq!(release.table_values(1), &release.value[6..10]);
    assert_eq!(release.table_values(2), [251.0]);
    assert_eq!(release.column("sex").unwrap().levels, ["f", "m"]);
    assert_eq!(cell_levels(&release.table_columns(0), 3), ["b", "yes"]);
    assert_eq!(cell_levels(&release.table_columns(0), 4), ["c", "no"]);
    assert!(cell_levels(&release.table_columns(2), 0).is_empty());
    let many = |levels: usize| LevelColumn { name: levels.to_string(), levels: vec![String::new(); levels] };
    let wide = [many(40_000), many(50_000)];
    let table = vec![vec!["40000".to_string(), "50000".to_string()]];
    assert!(count_cells(&wide, &table, true).unwrap_err().to_string().contains("more than 10000000 cells"));
}

/// Counts of a list of records, level indices of (site, ill, sex).
fn exact(tables: &[Vec<String>], records: &[[usize; 3]]) -> Vec<f64> {
    let columns = columns();
    let place = |name: &String| columns.iter().position(|column| column.name == *name).unwrap();
    let mut all = Vec::new();
    for table in tables {
        let cell = |record: &[usize; 3]| {
            table.iter().fold(0, |cell, name| cell * columns[place(name)].levels.len() + record[place(name)])
        };
        let cells: usize = table.iter().map(|name| columns[place(name)].levels.len()).product();
        let mut counts = vec![0.0; cells];
        records.iter().for_each(|record| counts[cell(record)] += 1.0);
        all.extend(counts);
    }
    all
}

/// Every pair of neighbours by enumeration: the stated sensitivities are bounds and are attained.
#[test]
fn sensitivities_are_those_of_all_pairs() {
    let records: Vec<[usize; 3]> = (0..12).map(|code| [code / 4, code / 2 % 2, code % 2]).collect();
    for release in [counts(), confidential()] {
        let (mut l1, mut l2) = (0f64, 0f64);
        let substitute = release.records.is_some();
        for first in &records {
            for second in records.iter().filter(|second| substitute || *second == first) {
                let rest: &[[usize; 3]] = &[[1, 1, 0]];
                let one = exact(&release.tables, &[rest, &[*first]].concat());
                let other = exact(
                    &release.tables,
                    &if substitute { [rest, &[*second]].concat() } else { rest.to_vec() },
                );
                l1 = l1.max(one.iter().zip(&other).map(|(a, b)| (a - b).abs()).sum());
                l2 = l2.max(one.iter().zip(&other).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt());
            }
        }
        let bound = |norm| sensitivity::counts(release.tables.len(), release.privacy.neighbours, norm);
        assert_eq!((bound(Norm::L1).value, bound(Norm::L2).value), (l1, l2));
        assert!(bound(Norm::L1).tight);
    }
}

#[test]
fn enough_noise_holds_and_a_little_less_does_not() {
    for release in [counts(), confidential(), gaussian()] {
        let claim = release.claim().unwrap();
        assert!(claim.holds, "{claim:?}");
        assert_eq!(claim.sensitivity.value, release.privacy.sensitivity);
        for family in [CountFamily::Laplace, CountFamily::Gaussian] {
            let mut continuous = release.clone();
            continuous.noise.family = family;
            let fits = (family == CountFamily::Gaussian) == (release.privacy.norm == Norm::L2);
            assert_eq!(continuous.validate().is_ok(), fits);
            assert!(!fits || continuous.claim().unwrap().holds);
        }
        let mut weak = release.clone();
        weak.noise.scale *= if weak.noise.family == CountFamily::DiscreteGaussian { 0.99 } else { 0.999 };
        assert!(!weak.claim().unwrap().holds);
        let mut void = release;
        void.privacy.private_bounds = false;
        assert!(!void.claim().unwrap().holds);
    }
}
