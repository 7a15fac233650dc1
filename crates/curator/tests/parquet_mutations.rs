//! Broken Parquet files end in an error or in a result, never in a panic or a full memory.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::path::Path;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, Float64Array, Int64Array, LargeStringArray,
    RecordBatch, StringArray, TimestampMicrosecondArray,
};
use organza_curator::CuratorError;
use organza_curator::bounds::Bounds;
use organza_curator::formula::{Design, Formula};
use organza_curator::table::{Counts, Input, ReadOptions, Table};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterVersion};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

const BOUNDS: &str = "
y = { lower = 0, upper = 1000 }
x = { lower = 0, upper = 1000 }
flag = { lower = 0, upper = 1 }
price = { lower = 0, upper = 1000 }
when = { lower = 0, upper = 1 }
site = { levels = ['a', 'b', 'c'] }
ward = { levels = ['a', 'b', 'c'] }
";

fn batch() -> RecordBatch {
    let rows = 700_i64;
    let words: Vec<&str> = (0..rows).map(|k| ["a", "b", "c"][k as usize % 3]).collect();
    let prices = Decimal128Array::from_iter_values((0..rows).map(|k| i128::from(k) * 25));
    RecordBatch::try_from_iter([
        ("x", Arc::new(Float64Array::from_iter_values((0..rows).map(|k| k as f64 / 7.0))) as ArrayRef),
        ("y", Arc::new(Int64Array::from_iter((0..rows).map(|k| (k % 10 > 0).then_some(k % 50)))) as ArrayRef),
        ("site", Arc::new(words.iter().copied().collect::<DictionaryArray<Int32Type>>()) as ArrayRef),
        ("ward", Arc::new(LargeStringArray::from(words.clone())) as ArrayRef),
        ("flag", Arc::new(BooleanArray::from_iter((0..rows).map(|k| Some(k % 2 == 0)))) as ArrayRef),
        ("price", Arc::new(prices.with_precision_and_scale(10, 2).unwrap()) as ArrayRef),
        ("when", Arc::new(TimestampMicrosecondArray::from_iter_values(0..rows)) as ArrayRef),
        ("note", Arc::new(StringArray::from(words)) as ArrayRef),
    ])
    .unwrap()
}

fn written(properties: WriterProperties) -> Vec<u8> {
    let (batch, mut bytes) = (batch(), Vec::new());
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn files() -> Vec<Vec<u8>> {
    let small = || WriterProperties::builder().set_max_row_group_row_count(Some(300));
    let zstd = Compression::ZSTD(ZstdLevel::default());
    vec![
        written(small().set_compression(Compression::UNCOMPRESSED).build()),
        written(small().set_compression(Compression::SNAPPY).set_dictionary_enabled(false).build()),
        written(small().set_compression(zstd).set_writer_version(WriterVersion::PARQUET_2_0).build()),
    ]
}

fn read(path: &Path, formula: &str) -> Result<(f64, Counts), CuratorError> {
    let bounds = Bounds::from_toml(BOUNDS, "bounds").unwrap();
    let design = Design::compile(&formula.parse::<Formula>().unwrap(), &bounds).unwrap();
    let missing = organza_release::Missing::Dropped;
    let options = ReadOptions { threads: 1, missing, ..ReadOptions::default() };
    let input = Input::File(path.to_path_buf());
    let table = Table::new(&input, &design, &options, &());
    let (sums, counts) = table.fold(
        || 0.0,
        |sum, block| {
            *sum += block.numeric.iter().flat_map(|column| column.iter()).sum::<f64>();
            Ok(())
        },
    )?;
    Ok((sums.iter().sum(), counts))
}

const FORMULA: &str = "y ~ x + site + ward + flag + price";

/// The Arrow schema in a file is not read; Parquet's own types must suffice.
#[test]
fn types_are_read_without_the_arrow_schema() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    for bytes in files() {
        std::fs::write(&path, bytes).unwrap();
        let (sum, counts) = read(&path, FORMULA).unwrap();
        assert_eq!((counts.rows, counts.records), (700, 630));
        let kept = (0..700).filter(|k| k % 10 > 0).map(f64::from);
        let expected: f64 = kept.map(|k| k / 7.0 + k % 50.0 + f64::from(k % 2.0 == 0.0) + 0.25 * k).sum();
        assert!((sum - expected).abs() < 1e-6, "{sum} {expected}");
        let error = read(&path, "y ~ when").unwrap_err().to_string();
        assert!(error.contains("\"when\" holds Timestamp") && error.contains("days since"), "{error}");
    }
}

/// Catches panics of the Parquet reader and sizes that are believed. `ORGANZA_MUTATIONS` asks for more.
#[test]
fn mutated_files_are_refused_or_read() {
    let count = std::env::var("ORGANZA_MUTATIONS").map_or(600, |count| count.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let (files, mut rng) = (files(), ChaCha8Rng::seed_from_u64(7));
    let (mut refused, mut read_anyway) = (0, 0);
    for number in 0..count {
        let bytes = mutated(&files[number % files.len()], &mut rng);
        if let Ok(folder) = std::env::var("ORGANZA_MUTANTS") {
            std::fs::write(Path::new(&folder).join(format!("{number}.parquet")), &bytes).unwrap();
            continue;
        }
        std::fs::write(&path, bytes).unwrap();
        match std::panic::catch_unwind(|| read(&path, FORMULA)) {
            Ok(Ok(_)) => read_anyway += 1,
            Ok(Err(_)) => refused += 1,
            Err(_) => panic!("mutation {number} panics"),
        }
    }
    eprintln!("{count} mutations: {refused} refused, {read_anyway} read");
}

/// A few bytes are changed, half of the time in the footer; sometimes the file is cut and closed again.
fn mutated(bytes: &[u8], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let tail = bytes.len() - 8;
    let footer = u32::from_le_bytes(bytes[tail..tail + 4].try_into().unwrap()) as usize;
    let from = if rng.random_bool(0.5) { tail - footer } else { 4 };
    for _ in 0..rng.random_range(1..6) {
        let at = rng.random_range(from..bytes.len() - 4);
        bytes[at] = match rng.random_range(0..4) {
            0 => 0xff,
            1 => bytes[at].wrapping_add(1),
            2 => bytes[at] ^ (1 << rng.random_range(0..8)),
            _ => rng.random(),
        };
    }
    if rng.random_bool(0.05) {
        bytes.drain(rng.random_range(4..tail)..tail);
    }
    bytes
}
