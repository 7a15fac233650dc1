//! Draws back from Parquet.

use std::io::{Cursor, Read};

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder as Builder,
};

use super::columns::{INDEX, METADATA, Metadata, checksum, index};
use super::parquet_check::{contained, footer_is_sane, sane_rows};
use crate::draws::{ChainRecord, End};
use crate::{Draws, DrawsError};

/// Reads the draws of a file that [`write_parquet`](super::write_parquet) wrote, to the same bits.
///
/// The columns of the table become parameters, whichever table it is; statistics lie in a file of their own.
/// Files of other tools are read too if they have the same columns; their chains count as complete. The order
/// of the rows must be that of the draws.
pub fn read_parquet(mut input: impl Read) -> Result<Draws, DrawsError> {
    let mut file = Vec::new();
    input.read_to_end(&mut file).map_err(|error| fail("file", error))?;
    let file = File::open(Bytes::from(file))?;
    let names = file.parameters()?;
    let [chains, iterations, draws] = [0, 1, 2].map(|place| file.column::<Int64Type>(place));
    let found = [chains?, iterations?, draws?];
    let metadata = file.own_metadata(names.len())?;
    let records = match &metadata {
        Some(metadata) => metadata.chains.clone(),
        None => found[0].chunk_by(PartialEq::eq).map(|chain| complete(chain.len())).collect(),
    };
    check(&records, &found)?;
    let mut values = vec![0.0; file.rows * names.len()];
    for (place, name) in names.iter().enumerate() {
        let read = file.column::<Float64Type>(INDEX.len() + place)?;
        let known = metadata.as_ref().map(|metadata| metadata.checksums[place]);
        if known.is_some_and(|known| known != checksum(name, read.iter().copied())) {
            return Err(fail(column(name), "its values are not those that were written"));
        }
        let cells = values.iter_mut().skip(place).step_by(names.len());
        cells.zip(&read).for_each(|(cell, value)| *cell = *value);
    }
    Draws::from_records(names, records, values)
}

/// Values that repeat themselves take less room than others, but not less than this.
const MOST_CELLS_OF_A_BYTE: usize = 100;

/// A file of which columns are read one by one, so that errors name them.
struct File {
    bytes: Bytes,
    metadata: ArrowReaderMetadata,
    rows: usize,
}

impl File {
    fn open(bytes: Bytes) -> Result<Self, DrawsError> {
        // The embedded Arrow schema says nothing that we need, and a damaged one panics.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let mut file = Cursor::new(bytes.clone());
        let checked = contained(|| {
            footer_is_sane(&mut file)?;
            let metadata = ArrowReaderMetadata::load(&bytes, options).ok()?;
            let rows = usize::try_from(sane_rows(&mut file, metadata.metadata(), |_| true)?).ok()?;
            let cells = rows.checked_mul(metadata.schema().fields().len())?;
            (cells / MOST_CELLS_OF_A_BYTE <= bytes.len()).then_some((metadata, rows))
        });
        let reason = "it is broken, or says that there is more than the file can hold";
        let (metadata, rows) = checked.ok_or_else(|| fail("footer", reason))?;
        Ok(Self { bytes, metadata, rows })
    }

    fn name(&self, place: usize) -> String {
        self.metadata.schema().fields().get(place).map_or_else(String::new, |field| field.name().clone())
    }

    /// Names of the columns after the index.
    fn parameters(&self) -> Result<Vec<String>, DrawsError> {
        for (place, expected) in INDEX.into_iter().enumerate() {
            let found = self.name(place);
            if found != expected {
                let reason = format!("expected as column {} of the file, found {found:?}", place + 1);
                return Err(fail(column(expected), reason));
            }
        }
        Ok(self
            .metadata
            .schema()
            .fields()
            .iter()
            .skip(INDEX.len())
            .map(|field| field.name().clone())
            .collect())
    }

    /// What the file says of itself, if it is one of ours.
    fn own_metadata(&self, parameters: usize) -> Result<Option<Metadata>, DrawsError> {
        let entries = self.metadata.metadata().file_metadata().key_value_metadata();
        let entry = entries.and_then(|entries| entries.iter().find(|entry| entry.key == METADATA));
        let Some(text) = entry.and_then(|entry| entry.value.as_deref()) else { return Ok(None) };
        let bad = |reason: String| fail(format!("metadata {METADATA:?}"), reason);
        let metadata: Metadata = serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
        let sums = metadata.checksums.len();
        let fits = sums == parameters;
        fits.then_some(Some(metadata)).ok_or_else(|| bad(format!("{sums} checksums of {parameters} columns")))
    }

    /// All values of a column.
    fn column<T: ArrowPrimitiveType>(&self, place: usize) -> Result<Vec<T::Native>, DrawsError> {
        let named = |reason: String| fail(column(&self.name(place)), reason);
        let found = self.metadata.schema().field(place).data_type();
        if *found != T::DATA_TYPE {
            return Err(named(format!("expected numbers of type {}, found {found}", T::DATA_TYPE)));
        }
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), [place]);
        let broken = || named("its pages are broken".to_string());
        let builder = Builder::new_with_metadata(self.bytes.clone(), self.metadata.clone());
        let reader = contained(|| builder.with_projection(mask).build().ok());
        let mut reader = reader.ok_or_else(broken)?;
        let mut values = Vec::new();
        while let Some(batch) = contained(|| reader.next().transpose().ok()).ok_or_else(broken)? {
            let batch: RecordBatch = batch;
            let part = batch.column(0).as_primitive::<T>();
            if part.null_count() > 0 {
                return Err(named(format!("{} values are missing", part.null_count())));
            }
            values.extend_from_slice(part.values());
        }
        if values.len() != self.rows {
            return Err(named(format!("{} values in a file of {} rows", values.len(), self.rows)));
        }
        Ok(values)
    }
}

/// Whether the columns of the index are those of chains with these records.
fn check(records: &[ChainRecord], found: &[Vec<i64>; 3]) -> Result<(), DrawsError> {
    let mut expected = index(records);
    for row in 0..found[0].len() {
        let Some(expected) = expected.next() else {
            return Err(fail(column(INDEX[0]), format!("row {} belongs to no chain of the file", row + 1)));
        };
        for ((name, column_of), expected) in INDEX.into_iter().zip(found).zip(expected) {
            if column_of[row] != expected {
                let reason = format!("expected {expected} in row {}, found {}", row + 1, column_of[row]);
                return Err(fail(column(name), reason));
            }
        }
    }
    match expected.next() {
        None => Ok(()),
        Some([chain, ..]) => Err(fail(column(INDEX[0]), format!("rows of chain {chain} are missing"))),
    }
}

fn complete(draws: usize) -> ChainRecord {
    ChainRecord { draws, steps: draws, end: End::Complete }
}

fn column(name: &str) -> String {
    format!("column {name:?}")
}

fn fail(place: impl Into<String>, reason: impl ToString) -> DrawsError {
    DrawsError::Read { format: "Parquet", place: place.into(), reason: reason.to_string() }
}
