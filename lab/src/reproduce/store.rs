//! Files of results: read strictly, appended to row by row, rewritten whole.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use organza_curator::output::{PendingFile, Replace};

use super::files::{Identity, Provenance};
use super::{ReproduceError, Row};

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reading {
    /// Its finished replicates.
    pub rows: Vec<Row>,
    /// When it was written, by what.
    pub provenance: Provenance,
    /// A last line that was cut off, for instance by a crash; it is not among the rows.
    pub torn: Option<String>,
}

/// Reads a file of results; none if it is not there. Results of other settings are refused.
pub fn read(path: &Path, identity: &Identity) -> Result<Option<Reading>, ReproduceError> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(ReproduceError::file(path, error)),
    };
    let mut reading = Reading::default();
    let (mut body, mut number) = (text.as_str(), 0);
    // The head must be whole: a file that was cut off in it holds nothing.
    let expected = identity.head(&Provenance::default(), 0);
    for line in expected.lines() {
        number += 1;
        let Some((found, rest)) = body.split_once('\n') else {
            reading.torn = Some(body.to_string());
            return Ok(Some(reading));
        };
        check_head(path, (number, line), found, &mut reading.provenance)?;
        body = rest;
    }
    for line in body.split_inclusive('\n') {
        number += 1;
        let whole = line.strip_suffix('\n');
        match whole.map(|line| parse(line, identity.columns.len())) {
            Some(Ok(row)) => reading.rows.push(row),
            None => reading.torn = Some(line.to_string()),
            Some(Err(reason)) => {
                let reason = format!("{reason}; move the file away to begin anew");
                return Err(ReproduceError::Line { path: path.display().to_string(), line: number, reason });
            }
        }
    }
    Ok(Some(reading))
}

/// One line of the head: provenance may differ, all else must not.
fn check_head(
    path: &Path,
    (number, expected): (usize, &str),
    found: &str,
    provenance: &mut Provenance,
) -> Result<(), ReproduceError> {
    let after = |mark: &str| found.strip_prefix(mark).map(str::to_string);
    match number {
        4 => provenance.tool = after("# tool = ").unwrap_or_default(),
        5 => provenance.date = after("# date = ").unwrap_or_default(),
        6 => {}
        _ if found != expected => {
            let field =
                ["the experiment", "the version", "the seed", "", "", "", "the list of columns"][number - 1];
            let clean = |text: &str| text.trim_start_matches("# ").to_string();
            let (found, expected) = (clean(found), clean(expected));
            return Err(ReproduceError::Settings {
                path: path.display().to_string(),
                field,
                found,
                expected,
            });
        }
        _ => {}
    }
    Ok(())
}

fn parse(line: &str, columns: usize) -> Result<Row, String> {
    let fields: Vec<&str> = line.split(',').collect();
    if fields.len() != columns + 2 {
        return Err(format!("{} fields, expected {}", fields.len(), columns + 2));
    }
    let replicate = fields[1].parse().map_err(|_| format!("replicate {:?} is not a number", fields[1]))?;
    let number = |field: &&str| field.parse::<f64>().map_err(|_| format!("{field:?} is not a number"));
    let values = fields[2..].iter().map(number).collect::<Result<_, _>>()?;
    Ok(Row { cell: fields[0].to_string(), replicate, values })
}

/// A row as a line.
fn line(row: &Row) -> String {
    let values: Vec<String> = row.values.iter().map(|value| format!("{value:.8e}")).collect();
    format!("{},{},{}\n", row.cell, row.replicate, values.join(","))
}

/// A number as a file keeps it: results do not depend on whether they were just computed or read.
pub(super) fn rounded(value: f64) -> f64 {
    format!("{value:.8e}").parse().unwrap_or(f64::NAN)
}

/// Writes all rows; the file appears whole or not at all.
pub(super) fn rewrite(path: &Path, head: &str, rows: &[Row]) -> Result<(), ReproduceError> {
    write_whole(path, &(head.to_string() + &rows.iter().map(line).collect::<String>()))
}

/// Writes a file that appears whole or not at all.
pub(super) fn write_whole(path: &Path, text: &str) -> Result<(), ReproduceError> {
    let fail = |error: std::io::Error| ReproduceError::file(path, format!("cannot be written: {error}"));
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(fail)?;
    }
    let write = || -> Result<(), organza_curator::CuratorError> {
        let mut pending = PendingFile::replacing(path, Some(Replace::AnyFile))?;
        pending.write(text)?;
        pending.finish()
    };
    write().map_err(|error| ReproduceError::file(path, error))
}

/// A file that finished replicates are added to, from any thread.
pub(super) struct Appender {
    path: PathBuf,
    file: Mutex<File>,
}

impl Appender {
    /// Opens a file that exists.
    pub fn open(path: &Path) -> Result<Self, ReproduceError> {
        let file = OpenOptions::new().append(true).open(path);
        let file = file.map_err(|error| ReproduceError::file(path, error))?;
        Ok(Self { path: path.to_path_buf(), file: Mutex::new(file) })
    }

    /// Adds a row with one write, so that a crash tears the last line at most.
    pub fn add(&self, row: &Row) -> Result<(), ReproduceError> {
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let written = file.write_all(line(row).as_bytes()).and_then(|()| file.flush());
        written.map_err(|error| ReproduceError::file(&self.path, format!("cannot be written: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::Variant;

    fn identity() -> Identity {
        let columns = vec!["a".to_string(), "b".to_string()];
        Identity { key: "test".into(), variant: Variant::Claimed, version: 2, seed: 1, columns }
    }

    fn written(body: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.csv");
        let provenance = Provenance { tool: "organza 1".into(), date: "2026-01-31".into() };
        std::fs::write(&path, identity().head(&provenance, 3) + body).unwrap();
        (folder, path)
    }

    #[test]
    fn rows_come_back() {
        let row =
            Row { cell: "d=2 J=1".into(), replicate: 7, values: vec![rounded(1.0 / 3.0), f64::INFINITY] };
        let (_folder, path) = written(&line(&row));
        let reading = read(&path, &identity()).unwrap().unwrap();
        assert_eq!((reading.rows, reading.torn), (vec![row], None));
        assert_eq!(reading.provenance.tool, "organza 1");
        assert_eq!(read(Path::new("/no/such/file"), &identity()).unwrap(), None);
    }

    /// Catches a torn line that is taken for a number: "1.25" cut to "1.2" parses.
    #[test]
    fn a_torn_last_line_is_dropped() {
        let (_folder, path) = written("c,1,1.0,2.0\nc,2,1.0,2.");
        let reading = read(&path, &identity()).unwrap().unwrap();
        assert_eq!(reading.rows.len(), 1);
        assert_eq!(reading.torn.as_deref(), Some("c,2,1.0,2."));
    }

    #[test]
    fn a_bad_line_is_named() {
        let (_folder, path) = written("c,1,1.0,2.0\nc,2,1.0\nc,3,1.0,2.0\n");
        let error = read(&path, &identity()).unwrap_err().to_string();
        assert!(error.contains("line 9: 3 fields, expected 4"), "{error}");
    }

    #[test]
    fn other_settings_are_refused() {
        let (_folder, path) = written("");
        for (change, word) in [
            (Identity { version: 3, ..identity() }, "the version"),
            (Identity { seed: 2, ..identity() }, "the seed"),
            (Identity { key: "other".into(), ..identity() }, "the experiment"),
            (Identity { columns: vec!["a".into()], ..identity() }, "the list of columns"),
        ] {
            let error = read(&path, &change).unwrap_err().to_string();
            assert!(error.contains(word) && error.contains("--out"), "{error}");
        }
    }
}
