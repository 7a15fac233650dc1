//! One replicate of one cell of every key in every variant, and a report of it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use organza_lab::experiments;
use organza_lab::reproduce::{Experiment, ReproduceError, Results, Row};
use organza_studies::seed;

/// Keys of which one replicate takes minutes without full optimisation: only their cells, columns and reports are checked here. What they
/// compute is the same function as that of `rkh21-figure1`, with other settings.
const LONG: [&str; 3] = ["rkh21-figure2", "rkh21-figure3", "rkh21-records"];

/// Rows of one cell for one replicate; none, said aloud, if data are missing.
fn one_cell(experiment: &dyn Experiment, columns: &[String]) -> Vec<Row> {
    let mut rows = Vec::new();
    for variant in experiment.variants() {
        let study = match experiment.prepare(*variant) {
            Ok(study) => study,
            Err(error @ ReproduceError::MissingData { .. }) => {
                eprintln!("SKIPPED {}: {error}", experiment.key());
                return rows;
            }
            Err(error) => panic!("{}: {error}", experiment.key()),
        };
        let cells = study.cells();
        assert!(cells.iter().all(|cell| !cell.contains([',', '\n'])), "{cells:?}");
        let number = seed(1, experiment.key(), &cells[0], 1);
        let expected = experiment.columns(*variant);
        let is_long = LONG.contains(&experiment.key());
        let values = if is_long { vec![0.1; expected.len()] } else { study.replicate(0, number).unwrap() };
        assert_eq!(values.len(), expected.len(), "{} --as {}", experiment.key(), variant.word());
        if !experiment.is_timed() && !is_long && *variant == experiment.variants()[0] {
            assert_eq!(study.replicate(0, number).unwrap(), values, "the same seed gives the same numbers");
        }
        let results =
            Results::new(expected.clone(), vec![Row { cell: cells[0].clone(), replicate: 1, values }]);
        let report = experiment.report(*variant, &results);
        assert!(report.figure.unwrap().to_svg().ends_with("</svg>\n"));
        if expected == columns {
            rows.extend(results.rows().iter().cloned());
        }
    }
    rows
}

/// Catches cells, columns and reports that do not fit together, and replicates that depend on more than their seed.
fn check(key: &str) {
    let all = experiments();
    let experiment = all.iter().find(|experiment| experiment.key() == key).unwrap();
    let columns = experiment.columns(experiment.variants()[0]);
    for row in one_cell(&**experiment, &columns) {
        assert!(row.values.iter().all(|value| value.is_finite()), "{row:?}");
    }
}

#[test]
fn ayb23_table1() {
    check("ayb23-table1");
}

#[test]
fn ayb23_figure2() {
    check("ayb23-figure2");
}

#[test]
fn ayb23_figure3() {
    check("ayb23-figure3");
}

#[test]
fn ayb23_figure4() {
    check("ayb23-figure4");
}

#[test]
fn bs19_figure3() {
    check("bs19-figure3");
}

#[test]
fn bs19_figure3f() {
    check("bs19-figure3f");
}

#[test]
fn bs19_figure4() {
    check("bs19-figure4");
}

#[test]
fn jagr22_figure1() {
    check("jagr22-figure1");
}

#[test]
fn jagr22_table1() {
    check("jagr22-table1");
}

#[test]
fn jagr22_figure2() {
    check("jagr22-figure2");
}

#[test]
fn rkh21_figure1() {
    check("rkh21-figure1");
}

#[test]
fn rkh21_figure2() {
    check("rkh21-figure2");
}

#[test]
fn rkh21_figure3() {
    check("rkh21-figure3");
}

#[test]
fn rkh21_records() {
    check("rkh21-records");
}

/// A key without a test here is not tested.
#[test]
fn every_key_has_a_test() {
    let text = include_str!("keys.rs");
    for experiment in experiments() {
        assert!(text.contains(&format!("check(\"{}\")", experiment.key())), "{}", experiment.key());
    }
}
