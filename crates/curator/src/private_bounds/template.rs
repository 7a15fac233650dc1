//! A file of bounds to fill in: the names of the columns, and no value.

use std::io::{BufReader, Cursor, Read};

use csv::{ByteRecord, ReaderBuilder};
use flate2::read::MultiGzDecoder;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;

use crate::CuratorError;
use crate::bounds::table_header;
use crate::table::{Input, ReadOptions};

/// A file of bounds with every column of the table, to be filled in by a person from public knowledge.
///
/// Only names are read: the header of a CSV file (or how many fields its first row has, if there is none), the schema of a
/// Parquet file. Nothing in it depends on a value.
pub fn template(input: &Input, options: &ReadOptions) -> Result<String, CuratorError> {
    let mut text = String::from(
        "# Public bounds: fill in what is known without looking at the table, and remove the columns that you do not need.\n\
         # A column of numbers has lower and upper; one of categories has levels, the first of which is the reference.\n",
    );
    for name in names(input, options)? {
        text += &format!(
            "\n{}\n# lower = \n# upper = \n# or, for categories: levels = [\"...\", \"...\"]\n",
            table_header(&name)
        );
    }
    Ok(text)
}

fn names(input: &Input, options: &ReadOptions) -> Result<Vec<String>, CuratorError> {
    let fail = |error: &dyn std::fmt::Display| CuratorError::file(input.name(), error);
    let mut start = [0; 4];
    let mut source: Box<dyn Read> = match input {
        Input::Standard => Box::new(std::io::stdin()),
        Input::File(path) => {
            let mut file = std::fs::File::open(path).map_err(|error| fail(&error))?;
            if file.read_exact(&mut start).is_ok() && &start == b"PAR1" {
                let metadata =
                    ArrowReaderMetadata::load(&file, Default::default()).map_err(|error| fail(&error))?;
                return Ok(metadata.schema().fields().iter().map(|field| field.name().clone()).collect());
            }
            Box::new(std::fs::File::open(path).map_err(|error| fail(&error))?)
        }
    };
    let mut first = [0; 2];
    let read = source.read(&mut first).map_err(|error| fail(&error))?;
    let whole = Cursor::new(first[..read].to_vec()).chain(source);
    let plain: Box<dyn Read> =
        if first == [0x1f, 0x8b] { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) };
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .delimiter(options.delimiter)
        .from_reader(BufReader::new(plain));
    let mut record = ByteRecord::new();
    if !reader.read_byte_record(&mut record).map_err(|error| fail(&error))? {
        return Err(CuratorError::EmptyTable { path: input.name() });
    }
    if !options.header {
        return Ok((1..=record.len()).map(|number| format!("c{number}")).collect());
    }
    let name =
        |field: &[u8]| String::from_utf8_lossy(field).trim_start_matches('\u{feff}').trim().to_string();
    Ok(record.iter().map(name).collect())
}
