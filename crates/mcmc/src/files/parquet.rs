//! Parquet.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use super::columns::{INDEX, Table, index};
use crate::{Draws, DrawsError};

/// Writes draws as Parquet: 64-bit integers for the index, 64-bit floating-point numbers for the rest.
pub fn write_parquet(draws: &Draws, table: Table, output: impl Write + Send) -> Result<(), DrawsError> {
    let names = table.names(draws);
    let mut columns: Vec<(&str, ArrayRef)> = Vec::with_capacity(INDEX.len() + names.len());
    for (place, name) in INDEX.into_iter().enumerate() {
        let numbers = Int64Array::from_iter_values(index(draws).map(|row| row[place]));
        columns.push((name, Arc::new(numbers)));
    }
    for (place, name) in names.iter().enumerate() {
        let values = table.values(draws).iter().skip(place).step_by(names.len()).copied();
        columns.push((name, Arc::new(Float64Array::from_iter_values(values))));
    }
    let batch = RecordBatch::try_from_iter(columns).map_err(fail)?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = ArrowWriter::try_new(output, batch.schema(), Some(properties)).map_err(fail)?;
    writer.write(&batch).map_err(fail)?;
    writer.close().map_err(fail)?;
    Ok(())
}

fn fail(error: impl std::fmt::Display) -> DrawsError {
    DrawsError::Write { format: "Parquet", reason: error.to_string() }
}
