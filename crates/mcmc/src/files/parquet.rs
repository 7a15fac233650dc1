//! Parquet.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use super::columns::{INDEX, METADATA, Metadata, Table, checksum, index};
use crate::{Draws, DrawsError};

/// Writes draws as Parquet: 64-bit integers for the index, 64-bit floating-point numbers for the rest.
///
/// The metadata of the file hold, as JSON under `organza/draws`, how far every chain got and a checksum of
/// each column.
pub fn write_parquet(draws: &Draws, table: Table, output: impl Write + Send) -> Result<(), DrawsError> {
    let names = table.names(draws);
    let mut columns: Vec<(&str, ArrayRef)> = Vec::with_capacity(INDEX.len() + names.len());
    for (place, name) in INDEX.into_iter().enumerate() {
        let numbers = Int64Array::from_iter_values(index(draws.records()).map(|row| row[place]));
        columns.push((name, Arc::new(numbers)));
    }
    let mut metadata = Metadata { chains: draws.records().to_vec(), checksums: Vec::new() };
    for (place, name) in names.iter().enumerate() {
        let values = table.values(draws).iter().skip(place).step_by(names.len()).copied();
        metadata.checksums.push(checksum(name, values.clone()));
        columns.push((name, Arc::new(Float64Array::from_iter_values(values))));
    }
    let batch = RecordBatch::try_from_iter(columns).map_err(fail)?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(vec![entry(&metadata)?]))
        .build();
    let mut writer = ArrowWriter::try_new(output, batch.schema(), Some(properties)).map_err(fail)?;
    writer.write(&batch).map_err(fail)?;
    writer.close().map_err(fail)?;
    Ok(())
}

fn entry(metadata: &Metadata) -> Result<KeyValue, DrawsError> {
    let text = serde_json::to_string(metadata).map_err(fail)?;
    Ok(KeyValue::new(METADATA.to_string(), text))
}

fn fail(error: impl std::fmt::Display) -> DrawsError {
    DrawsError::Write { format: "Parquet", reason: error.to_string() }
}
