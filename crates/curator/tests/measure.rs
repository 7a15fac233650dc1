//! The exact statistic of a table does not depend on its format, the order of its rows or the number of threads.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray};
use organza_curator::CuratorError;
use organza_curator::bounds::Bounds;
use organza_curator::gram::IntegerGram;
use organza_curator::measure::{measure, measure_batches};
use organza_curator::mechanism::{DomainChoice, Plan, RecordScale, Request};
use organza_curator::table::{Input, ReadOptions};
use organza_release::Missing;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;

const BOUNDS: &str = "[a]\nlower = -3\nupper = 5\n[b]\nlower = 0\nupper = 40\n[s]\nlevels = [\"u\", \"v\", \"w\"]\n[y]\nlower = -10\nupper = 10\n";
const LEVELS: [&str; 3] = ["u", "v", "w"];

/// One record: a, b, level, y.
type Row = (f64, i64, usize, f64);

fn plan(record_scale: RecordScale) -> Plan {
    let bounds = Bounds::from_toml(BOUNDS, "bounds").unwrap();
    let mut request = Request::new("y ~ a + b + I(a^2) + a:s + s".parse().unwrap(), bounds, 1.0, 1e-6);
    request.domain = DomainChoice::Box { record_scale, intercept_weight: None };
    Plan::new(&request).unwrap()
}

fn write_csv(path: &Path, rows: &[Row]) {
    let line = |row: &Row| format!("\"{}\",{},{},extra,{}\n", row.0, row.1, LEVELS[row.2], row.3);
    let text = format!("a,b,s,other,y\n{}", rows.iter().map(line).collect::<String>());
    if path.extension().is_some_and(|extension| extension == "gz") {
        let file = std::fs::File::create(path).unwrap();
        let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        packed.write_all(text.as_bytes()).unwrap();
        packed.finish().unwrap();
    } else {
        std::fs::write(path, text).unwrap();
    }
}

fn write_parquet(path: &Path, rows: &[Row], group: usize) {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("y", Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| row.3)))),
        ("s", Arc::new(StringArray::from_iter_values(rows.iter().map(|row| LEVELS[row.2])))),
        ("b", Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.1)))),
        ("other", Arc::new(Float32Array::from_iter_values(rows.iter().map(|_| 1.0)))),
        ("a", Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| row.0)))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(group)).build();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn read(plan: &Plan, path: &Path, threads: usize) -> IntegerGram {
    let options = ReadOptions { threads, ..ReadOptions::default() };
    let (gram, counts) = measure(plan, &Input::File(path.to_path_buf()), &options, &()).unwrap();
    assert_eq!(counts.records, gram.records());
    gram
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    proptest::collection::vec((-9.0..9.0f64, -5..60i64, 0..3usize, -20.0..20.0f64), 1..300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn format_order_and_threads_do_not_matter(rows in rows(), group in 1..80usize, scaled in any::<bool>()) {
        let folder = tempfile::tempdir().unwrap();
        let plan = plan(if scaled { RecordScale::Default } else { RecordScale::None });
        let path = |name: &str| folder.path().join(name);
        write_csv(&path("t.csv"), &rows);
        write_csv(&path("t.csv.gz"), &rows);
        let mut shuffled = rows.clone();
        shuffled.sort_by(|left, right| left.0.total_cmp(&right.0));
        write_csv(&path("shuffled.csv"), &shuffled);
        write_parquet(&path("t.parquet"), &rows, group);
        let expected = read(&plan, &path("t.csv"), 1);
        prop_assert_eq!(expected.records(), rows.len() as u64);
        for (name, threads) in [("t.csv.gz", 1), ("shuffled.csv", 1), ("t.parquet", 1), ("t.parquet", 2), ("t.parquet", 5)] {
            prop_assert_eq!(&read(&plan, &path(name), threads), &expected, "{} with {} threads", name, threads);
        }
    }

    #[test]
    fn averaged_rows_follow_the_table_and_not_its_format(rows in rows(), group in 1..80usize, averaged in 2..9u64) {
        let folder = tempfile::tempdir().unwrap();
        let bounds = Bounds::from_toml(BOUNDS, "bounds").unwrap();
        let formula = "y ~ a + b + a:s - 1".parse().unwrap();
        let request = Request { averaging: Some(averaged), ..Request::new(formula, bounds, 1.0, 1e-6) };
        let plan = Plan::new(&request).unwrap();
        let (csv, parquet) = (folder.path().join("t.csv"), folder.path().join("t.parquet"));
        write_csv(&csv, &rows);
        write_parquet(&parquet, &rows, group);
        let expected = read(&plan, &csv, 1);
        for threads in [1, 2, 5] {
            prop_assert_eq!(&read(&plan, &parquet, threads), &expected, "{} threads", threads);
        }
    }

    #[test]
    fn batches_add_up_to_the_whole(rows in rows(), batch in 1..120u64) {
        let folder = tempfile::tempdir().unwrap();
        let plan = plan(RecordScale::Default);
        let (csv, parquet) = (folder.path().join("t.csv"), folder.path().join("t.parquet"));
        write_csv(&csv, &rows);
        write_parquet(&parquet, &rows, 50);
        let whole = read(&plan, &csv, 1);
        for path in [csv, parquet] {
            let mut sums = vec![0; whole.upper().len()];
            let mut sizes = Vec::new();
            measure_batches(&plan, &Input::File(path), &ReadOptions::default(), (batch, &()), &mut |measured| {
                let gram = measured.clone().into_gram().unwrap();
                sums.iter_mut().zip(gram.upper()).for_each(|(sum, entry)| *sum += entry);
                sizes.push(gram.records());
                Ok(())
            }).unwrap();
            prop_assert_eq!(&sums, whole.upper());
            prop_assert!(sizes[..sizes.len() - 1].iter().all(|size| *size == batch));
        }
    }
}

#[test]
fn missing_values_in_parquet_follow_the_rule() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("x", Arc::new(Float64Array::from(vec![Some(1.0), None, Some(3.0), Some(f64::NAN)]))),
        ("y", Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0, 4.0]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let mut bounds = Bounds::default();
    bounds.set_flag("x=0:10").unwrap();
    bounds.set_flag("y=0:10").unwrap();
    let plan = Plan::new(&Request::new("y ~ x".parse().unwrap(), bounds, 1.0, 1e-6)).unwrap();
    let with = |missing| {
        measure(&plan, &Input::File(path.clone()), &ReadOptions { missing, ..ReadOptions::default() }, &())
    };
    let error = with(Missing::Refused).unwrap_err();
    assert!(error.to_string().contains("row 2, column \"x\": the value is missing"), "{error}");
    assert_eq!(with(Missing::Dropped).unwrap().0.records(), 2);
    assert_eq!(with(Missing::Midpoint).unwrap().0.records(), 4);
}

#[test]
fn text_where_numbers_are_wanted_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    write_parquet(&path, &[(1.0, 2, 0, 3.0)], 10);
    let mut bounds = Bounds::default();
    bounds.set_flag("s=0:10").unwrap();
    bounds.set_flag("y=0:10").unwrap();
    let plan = Plan::new(&Request::new("y ~ s".parse().unwrap(), bounds, 1.0, 1e-6)).unwrap();
    let error = measure(&plan, &Input::File(path), &ReadOptions::default(), &()).unwrap_err();
    assert!(
        matches!(error, CuratorError::File { .. }) && error.to_string().contains("not numbers"),
        "{error}"
    );
}
