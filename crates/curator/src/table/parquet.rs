//! Parquet: only the needed columns, row groups spread over threads.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_schema::DataType;
use organza_mcmc::files::parquet_check::{contained, footer_is_sane, sane_rows};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};

use super::block::{Block, Cell, DATE_HELP, Needs};
use super::csv::find_columns;
use super::limits::MOST_COLUMNS;
use super::parquet_values;
use super::printed::printed;
use super::{Counts, Event, Table};
use crate::CuratorError;
use crate::formula::BlockColumns;

/// Rows decoded at a time: a block of ten columns then fits into the second-level cache.
const BATCH_ROWS: usize = 4_096;

/// A Parquet file with its footer read.
struct Source<'t> {
    table: &'t Table<'t>,
    path: &'t Path,
    metadata: ArrowReaderMetadata,
    columns: Vec<usize>,
    rows: u64,
}

/// A stretch of one row group, the work of one thread at a time.
struct Piece {
    group: usize,
    offset: usize,
    rows: usize,
    /// Its first row, counted from the beginning of the file.
    first_row: u64,
}

/// Looks for the needed columns in the footer.
pub(super) fn check_columns(table: &Table<'_>, path: &Path) -> Result<(), CuratorError> {
    Source::open(table, path).map(drop)
}

/// Folds all row groups, each thread into a state of its own.
pub(super) fn fold<S: Send>(
    table: &Table<'_>,
    path: &Path,
    new_state: impl Fn() -> S + Sync,
    consume: impl Fn(&mut S, &BlockColumns<'_>) -> Result<(), CuratorError> + Sync,
) -> Result<(Vec<S>, Counts), CuratorError> {
    let source = Source::open(table, path)?;
    if source.rows == 0 {
        return Err(CuratorError::EmptyTable { path: table.needs.path.clone() });
    }
    let pieces = source.pieces(table.options.threads.max(1));
    let (next_piece, done) = (AtomicUsize::new(0), AtomicU64::new(0));
    // The first piece with an error so far. Pieces are handed out in order, and those before it are still read, so the
    // error that is reported is the first of the file for every number of threads.
    let first_failed = AtomicUsize::new(usize::MAX);
    let work = || -> Result<(S, u64), (usize, CuratorError)> {
        let (mut state, mut records) = (new_state(), 0);
        loop {
            let index = next_piece.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = pieces.get(index).filter(|_| index < first_failed.load(Ordering::Relaxed))
            else {
                return Ok((state, records));
            };
            let read = source.read_piece(piece, &mut |block, rows| {
                records += block.rows() as u64;
                let so_far = done.fetch_add(rows, Ordering::Relaxed) + rows;
                table.progress.update(so_far, Some(source.rows));
                consume(&mut state, block)
            });
            if let Err(error) = read {
                first_failed.fetch_min(index, Ordering::Relaxed);
                return Err((index, error));
            }
        }
    };
    let threads = table.options.threads.clamp(1, pieces.len().max(1));
    let results: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let join = |worker: std::thread::ScopedJoinHandle<'_, _>| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        workers.into_iter().map(join).collect()
    });
    let mut states = Vec::with_capacity(threads);
    let mut counts = Counts { rows: source.rows, ..Counts::default() };
    let mut failures = Vec::new();
    for result in results {
        match result {
            Ok((state, records)) => {
                counts.records += records;
                states.push(state);
            }
            Err(failure) => failures.push(failure),
        }
    }
    match failures.into_iter().min_by_key(|(index, _)| *index) {
        Some((_, error)) => Err(error),
        None => Ok((states, counts)),
    }
}

/// Reads all rows in order, cut into batches.
pub(super) fn read_in_order(
    table: &Table<'_>,
    path: &Path,
    batch_rows: u64,
    on_event: &mut dyn FnMut(Event<'_>) -> Result<(), CuratorError>,
) -> Result<Counts, CuratorError> {
    let source = Source::open(table, path)?;
    let mut counts = Counts { rows: source.rows, ..Counts::default() };
    let mut reader = source.reader(None)?;
    let (mut row, mut in_batch, mut records) = (0, 0, 0);
    while let Some(batch) = source.next_batch(&mut reader)? {
        let mut rest = batch;
        while rest.num_rows() > 0 {
            let take = (batch_rows - in_batch).min(rest.num_rows() as u64) as usize;
            source.convert(&rest.slice(0, take), row, &mut |block, _| {
                records += block.rows() as u64;
                on_event(Event::Block(block))
            })?;
            rest = rest.slice(take, rest.num_rows() - take);
            row += take as u64;
            in_batch += take as u64;
            if in_batch == batch_rows {
                counts.records += records;
                on_event(Event::BatchEnd(std::mem::take(&mut records)))?;
                in_batch = 0;
            }
        }
        table.progress.update(row, Some(source.rows));
    }
    if in_batch > 0 {
        counts.records += records;
        on_event(Event::BatchEnd(records))?;
    }
    Ok(counts)
}

type OnBlock<'f> = &'f mut dyn FnMut(&BlockColumns<'_>, u64) -> Result<(), CuratorError>;

impl<'t> Source<'t> {
    fn open(table: &'t Table<'t>, path: &'t Path) -> Result<Self, CuratorError> {
        let (mut file, metadata) = load(path)?;
        let columns = find_columns(table.needs.names(), &names_of(&metadata), &table.needs.path)?;
        let rows =
            contained(|| sane_rows(&mut file, metadata.metadata(), |column| columns.contains(&column)));
        let rows = rows.ok_or_else(|| unreadable(path))?;
        Ok(Self { table, path, metadata, columns, rows })
    }

    /// Row groups, divided so that every thread has something to do.
    fn pieces(&self, threads: usize) -> Vec<Piece> {
        let groups = self.metadata.metadata().row_groups();
        let parts = threads.div_ceil(groups.len().max(1));
        let (mut pieces, mut start) = (Vec::new(), 0);
        for (index, group) in groups.iter().enumerate() {
            let rows = group.num_rows() as usize;
            let step = rows.div_ceil(parts).max(1);
            let piece =
                |offset: usize| Piece { group: index, offset, rows: step, first_row: start + offset as u64 };
            pieces.extend((0..rows).step_by(step).map(piece));
            start += rows as u64;
        }
        pieces
    }

    /// A reader of one piece, or of the whole file.
    fn reader(&self, piece: Option<&Piece>) -> Result<ParquetRecordBatchReader, CuratorError> {
        let file = File::open(self.path).map_err(|error| CuratorError::file(self.path.display(), error))?;
        let schema = self.metadata.metadata().file_metadata().schema_descr();
        let mask = ProjectionMask::roots(schema, self.columns.iter().copied());
        let built = contained(|| {
            let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
                .with_projection(mask)
                .with_batch_size(BATCH_ROWS);
            if let Some(Piece { group, offset, rows, .. }) = piece {
                builder = builder.with_row_groups(vec![*group]).with_offset(*offset).with_limit(*rows);
            }
            builder.build().ok()
        });
        built.ok_or_else(|| unreadable(self.path))
    }

    fn read_piece(&self, piece: &Piece, on_block: OnBlock<'_>) -> Result<(), CuratorError> {
        let mut reader = self.reader(Some(piece))?;
        let mut row = piece.first_row;
        while let Some(batch) = self.next_batch(&mut reader)? {
            self.convert(&batch, row, on_block)?;
            row += batch.num_rows() as u64;
        }
        Ok(())
    }

    fn next_batch(&self, reader: &mut ParquetRecordBatchReader) -> Result<Option<RecordBatch>, CuratorError> {
        contained(|| reader.next().transpose().ok()).ok_or_else(|| unreadable(self.path))
    }

    /// Turns a batch into a block; complete numeric columns are lent without a copy.
    fn convert(
        &self,
        batch: &RecordBatch,
        first_row: u64,
        on_block: OnBlock<'_>,
    ) -> Result<(), CuratorError> {
        let needs = &self.table.needs;
        let rows = batch.num_rows() as u64;
        let numbers = needs.numeric.len();
        let mut numeric = Vec::with_capacity(numbers);
        let mut text = Vec::new();
        for (position, name) in needs.names().enumerate() {
            let array = batch.column_by_name(name).ok_or_else(|| unreadable(self.path))?;
            if position < numbers {
                numeric.push(self.to_numbers(array, name)?);
            } else {
                text.push(self.to_text(array, name)?);
            }
        }
        let complete = |array: &Float64Array| array.null_count() == 0 && all_finite(array.values());
        if text.is_empty() && numeric.iter().all(complete) {
            let columns: Vec<&[f64]> = numeric.iter().map(|array| array.values().as_ref()).collect();
            return on_block(&BlockColumns { numeric: &columns, categorical: &[] }, rows);
        }
        let block = fill(needs, &numeric, &text, first_row)?;
        block.lend(|columns| on_block(columns, rows))
    }

    fn to_numbers(&self, array: &ArrayRef, name: &str) -> Result<Float64Array, CuratorError> {
        let kind = array.data_type();
        if !(kind.is_numeric() || *kind == DataType::Boolean || *kind == DataType::Null) {
            let help = if kind.is_temporal() { format!(": {DATE_HELP}") } else { String::new() };
            let kind = printed(&kind.to_string());
            return Err(self.fail(format!("column \"{}\" holds {kind}, not numbers{help}", printed(name))));
        }
        contained(|| parquet_values::numbers(array)).ok_or_else(|| self.unread(name, "numbers"))
    }

    fn to_text(&self, array: &ArrayRef, name: &str) -> Result<StringArray, CuratorError> {
        if array.data_type().is_floating() {
            let numbers = self.to_numbers(array, name)?;
            // As a person writes it: 1, not 1.0.
            return Ok(numbers.iter().map(|value| value.map(|number| number.to_string())).collect());
        }
        contained(|| parquet_values::text(array)).ok_or_else(|| self.unread(name, "text"))
    }

    /// The value is not passed on.
    fn unread(&self, name: &str, kind: &str) -> CuratorError {
        self.fail(format!("column \"{}\" cannot be read as {kind}", printed(name)))
    }

    fn fail(&self, reason: String) -> CuratorError {
        CuratorError::file(self.path.display(), reason)
    }
}

/// The names of all columns.
pub(super) fn names(path: &Path) -> Result<Vec<String>, CuratorError> {
    Ok(names_of(&load(path)?.1))
}

fn names_of(metadata: &ArrowReaderMetadata) -> Vec<String> {
    metadata.schema().fields().iter().map(|field| field.name().clone()).collect()
}

/// Reads the footer. The Arrow schema inside of it is not read: Parquet's own types suffice, and its reader panics on broken ones.
fn load(path: &Path) -> Result<(File, ArrowReaderMetadata), CuratorError> {
    let mut file = File::open(path).map_err(|error| CuratorError::file(path.display(), error))?;
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let metadata = contained(|| {
        footer_is_sane(&mut file)?;
        let metadata = ArrowReaderMetadata::load(&file, options).ok()?;
        (metadata.schema().fields().len() <= MOST_COLUMNS).then_some(metadata)
    });
    Ok((file, metadata.ok_or_else(|| unreadable(path))?))
}

/// What the Parquet reader says is not passed on: it may quote a value.
fn unreadable(path: &Path) -> CuratorError {
    let reason = "not a readable Parquet file: it is broken, encrypted, packed in an unknown way, or has parts beyond the limits";
    CuratorError::file(path.display(), reason)
}

/// The record-by-record path, for missing values and levels.
fn fill(
    needs: &Needs<'_>,
    numeric: &[Float64Array],
    text: &[StringArray],
    first_row: u64,
) -> Result<Block, CuratorError> {
    let rows = numeric.first().map_or_else(|| text.first().map_or(0, Array::len), Array::len);
    let mut block = Block::new(needs);
    for row in 0..rows {
        let cell = |column: usize| match numeric.get(column) {
            Some(array) if array.is_valid(row) => Cell::Number(array.value(row)),
            Some(_) => Cell::Missing,
            None => match &text[column - numeric.len()] {
                array if array.is_valid(row) => Cell::Text(array.value(row).as_bytes()),
                _ => Cell::Missing,
            },
        };
        block.push(needs, cell, &|| format!("row {}", first_row + row as u64 + 1))?;
    }
    Ok(block)
}

/// Zero times a number is a number only if that is finite; sums of such products run at the speed of memory.
fn all_finite(values: &[f64]) -> bool {
    let mut sums = [0.0; 8];
    let chunks = values.chunks_exact(8);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            *sum += 0.0 * value;
        }
    }
    sums.iter().all(|sum| *sum == 0.0) && rest.iter().all(|value| value.is_finite())
}
