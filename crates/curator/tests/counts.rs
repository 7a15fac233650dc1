//! Counts and answers do not depend on the format of a table or the number of threads, and are right.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use organza_curator::Publishable;
use organza_curator::bounds::Bounds;
use organza_curator::counts::{CountPlan, CountRequest, ExactCounts, parse_tables};
use organza_curator::mechanism::NoiseRng;
use organza_curator::randomised::{ExactAnswers, Per, RandomisedPlan, RandomisedRequest};
use organza_curator::table::{Input, ReadOptions, Reading};
use organza_release::Missing;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;

const LEVELS: [&str; 3] = ["u", "v", "w"];

/// One record: a level and a number that stands for one.
type Row = (usize, i64);

fn bounds() -> Bounds {
    let mut bounds = Bounds::default();
    bounds.set_flag("s=u,v,w").unwrap();
    bounds.set_flag("n=0,1").unwrap();
    bounds
}

/// Noise so small that every draw is zero: a mass of e^-40 lies elsewhere.
fn quiet_plan() -> CountPlan {
    CountPlan::new(&CountRequest::new(parse_tables("s, n; n").unwrap(), bounds(), 160.0, 0.0)).unwrap()
}

fn answers_plan() -> RandomisedPlan {
    RandomisedPlan::new(&RandomisedRequest::new("n, s", Per::Record, bounds(), 1.0).unwrap()).unwrap()
}

fn write(folder: &Path, rows: &[Row], group: usize) {
    let line = |row: &Row| format!("{},{}\n", row.1, LEVELS[row.0]);
    let text = format!("n,s\n{}", rows.iter().map(line).collect::<String>());
    std::fs::write(folder.join("t.csv"), text).unwrap();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("s", Arc::new(StringArray::from_iter_values(rows.iter().map(|row| LEVELS[row.0])))),
        ("n", Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.1)))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(group)).build();
    let file = std::fs::File::create(folder.join("t.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn read(folder: &Path, name: &str, threads: usize) -> (ExactCounts, ExactAnswers) {
    let options = ReadOptions { threads, ..ReadOptions::default() };
    let input = Input::File(folder.join(name));
    let reading = Reading { input: &input, options: &options, progress: &() };
    (quiet_plan().measure(&reading).unwrap().0, answers_plan().measure(&reading).unwrap().0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn format_and_threads_do_not_matter(
        rows in proptest::collection::vec((0..3usize, 0..2i64), 1..300),
        group in 1..80usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &rows, group);
        let expected = read(folder.path(), "t.csv", 1);
        for threads in [1, 2, 5] {
            prop_assert_eq!(&read(folder.path(), "t.parquet", threads), &expected, "{} threads", threads);
        }
        let noise = &mut NoiseRng::from_operating_system();
        let release = quiet_plan().publish(&expected.0, "p", Missing::Refused, noise).unwrap();
        let count = |wanted: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| wanted(row)).count() as f64;
        for level in 0..3 {
            for number in 0..2 {
                let cell = level * 2 + number as usize;
                prop_assert_eq!(release.table_values(0)[cell], count(&|row| *row == (level, number)));
            }
        }
        prop_assert_eq!(release.table_values(1), [count(&|row| row.1 == 0), count(&|row| row.1 == 1)]);
    }
}

/// Calibration stays quick where the sum of the mass is longest.
#[test]
fn large_gaussian_scales_are_found() {
    for (epsilon, delta) in [(1e-3, 1e-6), (2e-4, 1e-6), (1e-5, 1e-9)] {
        let request = CountRequest::new(parse_tables("s; n").unwrap(), bounds(), epsilon, delta);
        let plan = CountPlan::new(&request).unwrap();
        let continuous = organza_release::loss::gaussian_scale(epsilon, delta, 2.0).unwrap();
        let ratio = plan.noise().scale / continuous;
        assert!(ratio > 0.999 && ratio < 1.1, "{epsilon}, {delta}: {ratio}");
    }
}
