//! Files hold the draws to the last bit.
#![cfg(feature = "files")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod support;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use organza_mcmc::files::{Table, write_csv, write_parquet};
use organza_mcmc::{Draws, DrawsError, Plan, run};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use support::{Metropolis, Normal};

fn draws() -> Draws {
    let plan = Plan { chains: 3, warmup: 10, draws: 7, thin: 1, seed: 1, threads: 1 };
    let draws = run(&Metropolis::new(1.0), &Normal(vec![(0.0, 1e-300), (0.0, 1e300)]), &plan).unwrap();
    draws.named(vec!["beta[1,2]".to_string(), "sd \"x\"".to_string()]).unwrap()
}

#[test]
fn csv_reads_back_to_the_same_bits() {
    let draws = draws();
    for (table, values) in [(Table::Parameters, draws.values()), (Table::Statistics, draws.statistics())] {
        let mut file = Vec::new();
        write_csv(&draws, table, &mut file).unwrap();
        let mut reader = csv::Reader::from_reader(&file[..]);
        let names: Vec<String> = reader.headers().unwrap().iter().map(str::to_string).collect();
        assert_eq!(names[..3], [".chain", ".iteration", ".draw"]);
        if table == Table::Parameters {
            assert_eq!(names[3..], *draws.names());
        } else {
            assert_eq!(names[3..], *draws.statistic_names());
        }
        let rows: Vec<Vec<f64>> = reader
            .records()
            .map(|row| row.unwrap().iter().map(|field| field.parse().unwrap()).collect())
            .collect();
        assert_eq!(rows.len(), 21);
        assert_eq!(rows[8][..3], [2.0, 2.0, 9.0]);
        let found: Vec<u64> = rows.iter().flat_map(|row| &row[3..]).map(|value| value.to_bits()).collect();
        assert_eq!(found, values.iter().map(|value| value.to_bits()).collect::<Vec<_>>());
    }
}

#[test]
fn csv_has_the_text_that_r_reads() {
    let values = vec![0.1, 1e-300, -0.0, 12345678.0];
    let draws = Draws::from_values(vec!["a".to_string(), "b,c".to_string()], 2, values).unwrap();
    let mut file = Vec::new();
    write_csv(&draws, Table::Parameters, &mut file).unwrap();
    let expected = ".chain,.iteration,.draw,a,\"b,c\"\n1,1,1,0.1,1e-300\n2,1,2,-0.0,12345678.0\n";
    assert_eq!(String::from_utf8(file).unwrap(), expected);
    let infinite =
        Draws::from_values(vec!["a".to_string()], 1, vec![f64::INFINITY, f64::NEG_INFINITY, f64::NAN]);
    let mut file = Vec::new();
    write_csv(&infinite.unwrap(), Table::Parameters, &mut file).unwrap();
    assert_eq!(
        String::from_utf8(file).unwrap(),
        ".chain,.iteration,.draw,a\n1,1,1,Inf\n1,2,2,-Inf\n1,3,3,NaN\n"
    );
}

#[test]
fn parquet_reads_back_to_the_same_bits() {
    let draws = draws();
    let mut file = Vec::new();
    write_parquet(&draws, Table::Parameters, &mut file).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(file)).unwrap().build().unwrap();
    let batch = reader.map(Result::unwrap).next().unwrap();
    let names: Vec<String> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, [".chain", ".iteration", ".draw", "beta[1,2]", "sd \"x\""]);
    let chains = batch.column(0).as_primitive::<Int64Type>().values().to_vec();
    assert_eq!(chains, [[1; 7], [2; 7], [3; 7]].concat());
    for (column, name) in draws.names().iter().enumerate() {
        let found = batch.column(3 + column).as_primitive::<Float64Type>().values().to_vec();
        assert_eq!(found, draws.parameter(name).unwrap().concat());
    }
}

#[test]
fn a_full_disk_is_an_error() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("no space"))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let draws = draws();
    let errors = [write_csv(&draws, Table::Parameters, Full), write_parquet(&draws, Table::Parameters, Full)];
    for error in errors {
        assert!(
            matches!(&error, Err(DrawsError::Write { reason, .. }) if reason.contains("no space")),
            "{error:?}"
        );
    }
}
