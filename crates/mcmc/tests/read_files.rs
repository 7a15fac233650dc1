//! Draws come back from files as they were, and bad files are refused.
#![cfg(feature = "files")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use organza_mcmc::files::{Table, read_parquet, write_parquet};
use organza_mcmc::{Draws, End, Monitor, Plan, Progress, run, run_monitored};
use parquet::arrow::ArrowWriter;
use support::{Metropolis, Normal};

fn written(draws: &Draws, table: Table) -> Vec<u8> {
    let mut file = Vec::new();
    write_parquet(draws, table, &mut file).unwrap();
    file
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn parquet_comes_back_to_the_same_bits() {
    let plan = Plan { chains: 3, warmup: 10, draws: 2500, thin: 1, seed: 1, threads: 1 };
    let draws = run(&Metropolis::new(1.0), &Normal(vec![(0.0, 1e-300), (0.0, 1e300)]), &plan).unwrap();
    let draws = draws.named(vec!["beta[1,2]".to_string(), "sd \"x\"".to_string()]).unwrap();
    let back = read_parquet(&written(&draws, Table::Parameters)[..]).unwrap();
    assert_eq!((back.names(), back.records()), (draws.names(), draws.records()));
    assert_eq!(bits(back.values()), bits(draws.values()));
    let back = read_parquet(&written(&draws, Table::Statistics)[..]).unwrap();
    assert_eq!(back.names(), draws.statistic_names());
    assert_eq!(bits(back.values()), bits(draws.statistics()));
    let odd = vec![f64::NAN, f64::INFINITY, -0.0, f64::from_bits(1)];
    let odd = Draws::from_values(vec!["a".to_string()], 2, odd).unwrap();
    let back = read_parquet(&written(&odd, Table::Parameters)[..]).unwrap();
    assert_eq!(bits(back.values()), bits(odd.values()));
}

/// Chains of unequal length, some without draws: the file knows how they ended.
#[test]
fn interrupted_chains_come_back_as_they_were() {
    for last in [30, 75] {
        let interrupted = AtomicBool::new(false);
        let progress = |progress: Progress| interrupted.store(progress.step >= last, Ordering::Relaxed);
        let monitor = Monitor { interrupted: Some(&interrupted), progress: Some(&progress) };
        let plan = Plan { chains: 3, warmup: 50, draws: 100, thin: 1, seed: 1, threads: 1 };
        let target = Normal(vec![(0.0, 1.0)]);
        let draws = run_monitored(&Metropolis::new(1.0), &target, &plan, &monitor).unwrap();
        assert!(draws.records().iter().any(|record| record.end == End::Interrupted && record.draws == 0));
        let back = read_parquet(&written(&draws, Table::Parameters)[..]).unwrap();
        assert_eq!((back.names(), back.records()), (draws.names(), draws.records()));
        assert_eq!(bits(back.values()), bits(draws.values()));
    }
}

/// A file of another tool with these columns.
fn foreign(columns: &[(&str, ArrayRef)]) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.iter().map(|(name, values)| (*name, values.clone(), true)),
    );
    let batch = batch.unwrap();
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    file
}

fn integers(values: [i64; 4]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

fn numbers(values: [Option<f64>; 4]) -> ArrayRef {
    Arc::new(Float64Array::from(values.to_vec()))
}

fn columns() -> Vec<(&'static str, ArrayRef)> {
    vec![
        (".chain", integers([1, 1, 1, 2])),
        (".iteration", integers([1, 2, 3, 1])),
        (".draw", integers([1, 2, 3, 4])),
        ("a", numbers([Some(1.0), Some(2.0), Some(3.0), Some(4.0)])),
    ]
}

#[test]
fn files_of_other_tools_are_read() {
    let draws = read_parquet(&foreign(&columns())[..]).unwrap();
    assert_eq!(draws.parameter("a").unwrap(), [vec![1.0, 2.0, 3.0], vec![4.0]]);
    assert!(draws.is_complete());
}

#[test]
fn foreign_files_are_refused_by_the_name_of_the_column() {
    let refused = |place: usize, column: (&'static str, ArrayRef), parts: [&str; 2]| {
        let mut columns = columns();
        columns[place] = column;
        let error = read_parquet(&foreign(&columns)[..]).unwrap_err().to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    };
    let whole = || numbers([Some(1.0), Some(2.0), Some(3.0), Some(4.0)]);
    let words: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c", "d"]));
    refused(
        0,
        ("chain", integers([1, 1, 1, 2])),
        ["column \".chain\": expected as column 1", "found \"chain\""],
    );
    refused(0, (".chain", whole()), ["column \".chain\"", "expected numbers of type Int64, found Float64"]);
    refused(0, (".chain", integers([1, 1, 1, 3])), ["column \".chain\"", "expected 2 in row 4, found 3"]);
    refused(
        1,
        (".iteration", integers([1, 2, 4, 1])),
        ["column \".iteration\"", "expected 3 in row 3, found 4"],
    );
    refused(2, (".draw", integers([1, 2, 3, 5])), ["column \".draw\"", "expected 4 in row 4, found 5"]);
    refused(3, ("a", words), ["column \"a\"", "expected numbers of type Float64, found Utf8"]);
    refused(3, ("a", numbers([Some(1.0), None, None, None])), ["column \"a\"", "3 values are missing"]);
    refused(3, (".a", whole()), ["\".a\"", "begins with a dot"]);
}

/// Every byte of the file in turn, and every length: an error or the same values, and errors name the column.
///
/// Seen to catch: values that Parquet reads from damaged pages without a word.
#[test]
fn damaged_files_are_refused() {
    let values: Vec<f64> = (0..40).map(f64::from).collect();
    let draws = Draws::from_values(vec!["a".to_string(), "b".to_string()], 2, values).unwrap();
    let file = written(&draws, Table::Parameters);
    for length in 0..file.len() {
        let error = read_parquet(&file[..length]).unwrap_err().to_string();
        assert!(error.starts_with("draws: cannot be read from Parquet: footer: "), "{length}: {error}");
    }
    let mut named = 0;
    for place in 0..file.len() {
        let mut damaged = file.clone();
        damaged[place] ^= 0x10;
        match read_parquet(&damaged[..]) {
            Ok(back) => assert_eq!(back.values(), draws.values(), "byte {place}"),
            Err(error) => named += usize::from(error.to_string().contains("column \"b\"")),
        }
    }
    assert!(named > 0, "no error named column b");
}
