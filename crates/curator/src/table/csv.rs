//! CSV, plain or gzipped, from a file, a pipe or standard input.

use std::cell::Cell as Counter;
use std::io::{self, Read};
use std::rc::Rc;

use csv::{ByteRecord, ErrorKind, ReaderBuilder};

use super::block::{BLOCK_ROWS, Block, Cell};
use super::limits::{MOST_CELL_BYTES, MOST_COLUMNS, MOST_RECORD_BYTES};
use super::line_ends::LineEnds;
use super::open::Text;
use super::printed::printed;
use super::{Counts, Event, ReadOptions, Table};
use crate::CuratorError;

/// Texts that stand for a missing value; everything else must be a number or a level.
const MISSING_TEXTS: [&[u8]; 8] = [b"", b"NA", b"N/A", b"NaN", b"nan", b"null", b"NULL", b"None"];

/// Bytes that are read ahead.
const BUFFER: usize = 1 << 18;

/// Reads all rows in order, cut into batches.
pub(super) fn read(
    table: &Table<'_>,
    text: Text,
    batch_rows: u64,
    on_event: &mut dyn FnMut(Event<'_>) -> Result<(), CuratorError>,
) -> Result<Counts, CuratorError> {
    let (total, position) = (text.total, Rc::clone(&text.position));
    let mut source = Source::new(text, &table.needs.path, table.options);
    let mut reader = Rows::new(table);
    let mut record = ByteRecord::new();
    let mut pending = reader.read_header(&mut source, &mut record)?;
    let mut batch = Counts::default();
    while pending || source.next(&mut record)? {
        pending = false;
        let kept = reader.push(&record, source.line_of(&record))?;
        batch.rows += 1;
        batch.records += u64::from(kept);
        let batch_is_full = batch.rows == batch_rows;
        if reader.block.rows() == BLOCK_ROWS || batch_is_full {
            reader.flush(on_event)?;
            table.progress.update(position.get(), total);
        }
        if batch_is_full {
            on_event(Event::BatchEnd(std::mem::take(&mut batch).records))?;
        }
    }
    reader.flush(on_event)?;
    table.progress.update(position.get(), total);
    if batch.rows > 0 {
        on_event(Event::BatchEnd(batch.records))?;
    }
    Ok(reader.counts)
}

/// Looks for the needed columns in the header.
pub(super) fn check_columns(table: &Table<'_>, text: Text) -> Result<(), CuratorError> {
    let mut source = Source::new(text, &table.needs.path, table.options);
    Rows::new(table).read_header(&mut source, &mut ByteRecord::new()).map(drop)
}

/// The names of all columns.
pub(super) fn names(text: Text, path: &str, options: &ReadOptions) -> Result<Vec<String>, CuratorError> {
    Source::new(text, path, options).names(&mut ByteRecord::new())
}

/// A reader of records that knows where it is.
struct Source<'t> {
    reader: csv::Reader<Box<dyn Read>>,
    /// Bytes that were read since the last whole record.
    open_bytes: Rc<Counter<u64>>,
    path: &'t str,
    options: &'t ReadOptions,
}

impl<'t> Source<'t> {
    fn new(text: Text, path: &'t str, options: &'t ReadOptions) -> Self {
        let open_bytes = Rc::new(Counter::new(0));
        // With a line feed at the end of every record, the last one included, lines can be counted (`line_of`).
        let lines = LineEnds::new(text.stream).chain(&b"\n"[..]);
        let bounded: Box<dyn Read> =
            Box::new(Bounded { inner: lines, open_bytes: Rc::clone(&open_bytes), most: MOST_RECORD_BYTES });
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .delimiter(options.delimiter)
            .buffer_capacity(BUFFER)
            .from_reader(bounded);
        Self { reader, open_bytes, path, options }
    }

    /// Reads a record; false at the end.
    fn next(&mut self, record: &mut ByteRecord) -> Result<bool, CuratorError> {
        let begin = self.reader.position().line();
        let read = self.reader.read_byte_record(record);
        self.open_bytes.set(0);
        let found = read.map_err(|error| match error.kind() {
            ErrorKind::UnequalLengths { expected_len, len, .. } => {
                let reason = format!("has {len} fields, the first line has {expected_len}");
                // A quote that is open at the end has no line of its own after it.
                self.row_error(self.line_of(record).max(begin), reason)
            }
            ErrorKind::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => self.row_error(
                begin,
                format!("a record has more than {MOST_RECORD_BYTES} bytes; is a quote not closed, or the line not ended?"),
            ),
            ErrorKind::Io(error) => CuratorError::file(self.path, error),
            _ => CuratorError::file(self.path, "not readable as CSV"),
        })?;
        if record.as_slice().len() > MOST_CELL_BYTES
            && let Some(field) = record.iter().position(|field| field.len() > MOST_CELL_BYTES)
        {
            let reason =
                format!("field {} has more than {MOST_CELL_BYTES} bytes; is a quote not closed?", field + 1);
            return Err(self.row_error(self.line_of(record), reason));
        }
        Ok(found)
    }

    /// The line in which the record that was just read begins. Blank lines before it are not a part of it.
    fn line_of(&self, record: &ByteRecord) -> u64 {
        let inside = record.as_slice().iter().filter(|byte| **byte == b'\n').count() as u64;
        self.reader.position().line().saturating_sub(1 + inside)
    }

    fn row_error(&self, line: u64, reason: String) -> CuratorError {
        CuratorError::Row { path: self.path.to_string(), place: format!("line {line}"), reason }
    }

    /// Reads the first record; the names that it holds or, without a header, those that count its fields.
    fn names(&mut self, record: &mut ByteRecord) -> Result<Vec<String>, CuratorError> {
        if !self.next(record)? {
            return Err(CuratorError::EmptyTable { path: self.path.to_string() });
        }
        if record.len() > MOST_COLUMNS {
            let reason = format!("has {} fields; {MOST_COLUMNS} columns are read at most", record.len());
            return Err(self.row_error(1, reason));
        }
        // Spreadsheets like to put a byte-order mark before the first name.
        let text =
            |field: &[u8]| String::from_utf8_lossy(field).trim_start_matches('\u{feff}').trim().to_string();
        Ok(if self.options.header {
            record.iter().map(text).collect()
        } else {
            (1..=record.len()).map(|number| format!("c{number}")).collect()
        })
    }
}

/// Ends with an error in a record that is too long. One buffer more than that may have been read ahead.
struct Bounded<R> {
    inner: R,
    open_bytes: Rc<Counter<u64>>,
    most: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.open_bytes.set(self.open_bytes.get() + count as u64);
        if self.open_bytes.get() > self.most + BUFFER as u64 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(count)
    }
}

/// State of reading the rows of one file.
struct Rows<'t> {
    table: &'t Table<'t>,
    /// Field index of each needed column.
    fields: Vec<usize>,
    block: Block,
    counts: Counts,
}

impl<'t> Rows<'t> {
    fn new(table: &'t Table<'t>) -> Self {
        Self { table, fields: vec![], block: Block::new(&table.needs), counts: Counts::default() }
    }

    /// Finds the needed columns. Returns whether `record` already holds the first row of data.
    fn read_header(
        &mut self,
        source: &mut Source<'_>,
        record: &mut ByteRecord,
    ) -> Result<bool, CuratorError> {
        let names = source.names(record)?;
        self.fields = find_columns(self.table.needs.names(), &names, source.path)?;
        Ok(!self.table.options.header)
    }

    fn push(&mut self, record: &ByteRecord, line: u64) -> Result<bool, CuratorError> {
        let numbers = self.table.needs.numeric.len();
        let decimal_comma = self.table.options.decimal_comma;
        let cell = |column: usize| {
            to_cell(record[self.fields[column]].trim_ascii(), (column < numbers).then_some(decimal_comma))
        };
        let kept = self.block.push(&self.table.needs, cell, &|| format!("line {line}"))?;
        self.counts.rows += 1;
        self.counts.records += u64::from(kept);
        Ok(kept)
    }

    fn flush(
        &mut self,
        on_event: &mut dyn FnMut(Event<'_>) -> Result<(), CuratorError>,
    ) -> Result<(), CuratorError> {
        if self.block.rows() > 0 {
            self.block.lend(|columns| on_event(Event::Block(columns)))?;
            self.block.clear();
        }
        Ok(())
    }
}

/// A level, or a number if it is said whether numbers have decimal commas.
fn to_cell(text: &[u8], decimal_comma: Option<bool>) -> Cell<'_> {
    if MISSING_TEXTS.contains(&text) {
        return Cell::Missing;
    }
    let number = match decimal_comma {
        None => None,
        Some(false) => fast_float2::parse::<f64, _>(text).ok(),
        Some(true) => with_decimal_comma(text),
    };
    number.map_or(Cell::Text(text), Cell::Number)
}

/// The number of a text with a decimal comma. A point is refused: it may separate thousands.
fn with_decimal_comma(text: &[u8]) -> Option<f64> {
    if text.contains(&b'.') {
        return None;
    }
    let point: Vec<u8> = text.iter().map(|byte| if *byte == b',' { b'.' } else { *byte }).collect();
    fast_float2::parse::<f64, _>(&point).ok()
}

/// The index of each wanted name; a name that is not there, or there twice, is an error.
pub(super) fn find_columns<'n>(
    wanted: impl Iterator<Item = &'n str>,
    names: &[String],
    path: &str,
) -> Result<Vec<usize>, CuratorError> {
    wanted
        .map(|name| {
            let mut places = (0..names.len()).filter(|&index| names[index] == name);
            match (places.next(), places.next()) {
                (Some(index), None) => Ok(index),
                (Some(_), Some(_)) => {
                    Err(CuratorError::file(path, format!("two columns are named {:?}", printed(name))))
                }
                (None, _) => Err(CuratorError::UnknownColumn {
                    path: path.to_string(),
                    column: name.to_string(),
                    available: names.to_vec(),
                }),
            }
        })
        .collect()
}
