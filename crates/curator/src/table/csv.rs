//! CSV, plain or gzipped, from a file or standard input.

use std::cell::Cell as Counter;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

use csv::{ByteRecord, ErrorKind, ReaderBuilder};
use flate2::bufread::MultiGzDecoder;

use super::block::{BLOCK_ROWS, Block, Cell};
use super::line_ends::LineEnds;
use super::{Counts, Event, Input, Table};
use crate::CuratorError;

/// Texts that stand for a missing value; everything else must be a number or a level.
const MISSING_TEXTS: [&[u8]; 8] = [b"", b"NA", b"N/A", b"NaN", b"nan", b"null", b"NULL", b"None"];

type Source = csv::Reader<Box<dyn Read>>;

pub(super) fn read(
    table: &Table<'_>,
    batch_rows: u64,
    on_event: &mut dyn FnMut(Event<'_>) -> Result<(), CuratorError>,
) -> Result<Counts, CuratorError> {
    let position = Rc::new(Counter::new(0));
    let (mut source, total) = source_of(table, &position)?;
    let mut reader = Rows::new(table);
    let mut record = ByteRecord::new();
    let mut pending = reader.read_header(&mut source, &mut record)?;
    let mut batch = Counts::default();
    while pending || next(&mut source, &mut record, table)? {
        pending = false;
        let kept = reader.push(&record, line_of(&source, &record))?;
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
pub(super) fn check_columns(table: &Table<'_>) -> Result<(), CuratorError> {
    let (mut source, _) = source_of(table, &Rc::new(Counter::new(0)))?;
    Rows::new(table).read_header(&mut source, &mut ByteRecord::new()).map(drop)
}

/// A reader of rows, and the bytes of the file.
fn source_of(table: &Table<'_>, position: &Rc<Counter<u64>>) -> Result<(Source, Option<u64>), CuratorError> {
    let (stream, total) = open(table.input, position)?;
    // With a line feed at the end of every record, the last one included, lines can be counted (`line_of`).
    let stream: Box<dyn Read> = Box::new(LineEnds::new(stream).chain(&b"\n"[..]));
    let builder = ReaderBuilder::new()
        .has_headers(false)
        .delimiter(table.options.delimiter)
        .buffer_capacity(1 << 18)
        .from_reader(stream);
    Ok((builder, total))
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
    fn read_header(&mut self, source: &mut Source, record: &mut ByteRecord) -> Result<bool, CuratorError> {
        let path = &self.table.needs.path;
        if !next(source, record, self.table)? {
            return Err(CuratorError::EmptyTable { path: path.clone() });
        }
        let names: Vec<String> = if self.table.options.header {
            // Spreadsheets like to put a byte-order mark before the first name.
            let text = |field: &[u8]| {
                String::from_utf8_lossy(field).trim_start_matches('\u{feff}').trim().to_string()
            };
            record.iter().map(text).collect()
        } else {
            (1..=record.len()).map(|number| format!("c{number}")).collect()
        };
        self.fields = find_columns(self.table.needs.names(), &names, path)?;
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

/// The line in which the record that was just read begins. Blank lines before it are not a part of it.
fn line_of(source: &Source, record: &ByteRecord) -> u64 {
    let inside = record.as_slice().iter().filter(|byte| **byte == b'\n').count() as u64;
    source.position().line().saturating_sub(1 + inside)
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
                    Err(CuratorError::file(path, format!("two columns are named {name:?}")))
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

fn next(source: &mut Source, record: &mut ByteRecord, table: &Table<'_>) -> Result<bool, CuratorError> {
    let path = &table.needs.path;
    let read = source.read_byte_record(record);
    read.map_err(|error| match error.kind() {
        ErrorKind::UnequalLengths { expected_len, len, .. } => CuratorError::Row {
            path: path.clone(),
            place: format!("line {}", line_of(source, record)),
            reason: format!("has {len} fields, the first line has {expected_len}"),
        },
        _ => CuratorError::file(path, &error),
    })
}

/// Opens the input, unpacks gzip, and counts the bytes that were read from disk.
fn open(input: &Input, position: &Rc<Counter<u64>>) -> Result<(Box<dyn Read>, Option<u64>), CuratorError> {
    let fail = |error: io::Error| CuratorError::file(input.name(), error);
    let (raw, total): (Box<dyn Read>, _) = match input {
        Input::Standard => (Box::new(io::stdin().lock()), None),
        Input::File(path) => {
            let file = File::open(path).map_err(fail)?;
            let total = file.metadata().ok().map(|metadata| metadata.len());
            (Box::new(file), total)
        }
    };
    let mut counted =
        BufReader::with_capacity(1 << 18, Counted { inner: raw, position: Rc::clone(position) });
    let gzipped = counted.fill_buf().map_err(fail)?.starts_with(&[0x1f, 0x8b]);
    let stream: Box<dyn Read> =
        if gzipped { Box::new(MultiGzDecoder::new(counted)) } else { Box::new(counted) };
    Ok((stream, total))
}

struct Counted {
    inner: Box<dyn Read>,
    position: Rc<Counter<u64>>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.position.set(self.position.get() + count as u64);
        Ok(count)
    }
}
