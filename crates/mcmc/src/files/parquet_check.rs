//! What is asked of a Parquet file before its reader believes it, and what happens if the reader still panics.

use std::cell::Cell;
use std::io::{Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

use super::thrift::Walk;

/// The most columns of a file; a few megabytes of names.
pub const MOST_COLUMNS: usize = 100_000;
/// The most bytes of a page once it is unpacked. Writers make pages of one megabyte.
const MOST_PAGE_BYTES: i64 = 256 << 20;
/// The most bytes of the footer; what is made of it takes some ten times as much.
const MOST_FOOTER_BYTES: usize = 64 << 20;
/// The deepest nesting of a schema, and of the structures that describe it.
pub(super) const DEEPEST_SCHEMA: usize = 32;

thread_local! {
    static CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a part of the Parquet reader, which panics on some broken files; a panic is no result.
///
/// This is sound because nothing that the part was changing is used afterwards: its reader is dropped, the reading ends with an
/// error, and what it shares with other threads (files, the footer) it only reads. The message of the panic is not printed,
/// because it may quote values.
pub fn contained<T>(part: impl FnOnce() -> Option<T>) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !CONTAINED.get() {
                usual(panic);
            }
        }));
    });
    CONTAINED.set(true);
    let result = catch_unwind(AssertUnwindSafe(part));
    CONTAINED.set(false);
    result.ok().flatten()
}

/// Whether the footer is whole, and its lists and its nesting are no larger than they may be.
pub fn footer_is_sane(file: &mut (impl Read + Seek)) -> Option<()> {
    let length = file.seek(SeekFrom::End(0)).ok()?;
    let mut tail = [0; 8];
    file.seek(SeekFrom::Start(length.checked_sub(8)?)).ok()?;
    file.read_exact(&mut tail).ok()?;
    let footer = u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]) as usize;
    if footer > MOST_FOOTER_BYTES || !tail.ends_with(b"PAR1") {
        return None;
    }
    let bytes = read_at(file, length.checked_sub(8 + footer as u64)?, footer)?;
    // Schema elements come depth first; each says how many children follow. What is open waits for its children.
    let (mut children, mut open, mut elements, mut deepest) = (0, Vec::<i64>::new(), 0_usize, 0);
    Walk::new(&bytes).structure(&mut Vec::new(), &mut |path, number| match (path, number) {
        ([2, 5], Some(number)) => children = number,
        ([2], None) => {
            while open.pop_if(|left| *left <= 0).is_some() {}
            if let Some(left) = open.last_mut() {
                *left -= 1;
            }
            if children > 0 && open.len() <= DEEPEST_SCHEMA {
                open.push(children);
            }
            (children, elements, deepest) = (0, elements + 1, deepest.max(open.len()));
        }
        _ => {}
    })?;
    (deepest <= DEEPEST_SCHEMA && elements <= 2 * MOST_COLUMNS).then_some(())
}

/// The number of rows, if it adds up and the pages of the needed columns are no larger than they may be.
pub fn sane_rows(
    file: &mut (impl Read + Seek),
    metadata: &ParquetMetaData,
    needed: impl Fn(usize) -> bool,
) -> Option<u64> {
    let length = file.seek(SeekFrom::End(0)).ok()?;
    let mut rows = 0_i64;
    for group in metadata.row_groups() {
        rows = rows.checked_add(Some(group.num_rows()).filter(|rows| *rows >= 0)?)?;
        let roots = group.schema_descr();
        for (leaf, chunk) in group.columns().iter().enumerate() {
            if needed(roots.get_column_root_idx(leaf)) {
                chunk_is_sane(file, length, chunk)?;
            }
        }
    }
    u64::try_from(rows).ok()
}

fn chunk_is_sane(file: &mut (impl Read + Seek), length: u64, chunk: &ColumnChunkMetaData) -> Option<()> {
    let (mut at, bytes) = chunk.byte_range();
    let end = at.checked_add(bytes).filter(|end| *end <= length)?;
    while at < end {
        let (header, unpacked, packed, values) = page_header(file, at, end)?;
        let body = at + header;
        let fits = (0..=MOST_PAGE_BYTES).contains(&unpacked) && (0..=(end - body) as i64).contains(&packed);
        // A value of a dictionary has a byte at least.
        if !fits || values > unpacked {
            return None;
        }
        at = body + packed as u64;
    }
    Some(())
}

/// Bytes of a page's header, of the unpacked and of the packed page, and the values of a dictionary (0 for other pages).
fn page_header(file: &mut (impl Read + Seek), at: u64, end: u64) -> Option<(u64, i64, i64, i64)> {
    // Statistics in a header may be long, which is rare.
    for most in [1 << 9, 1 << 22] {
        let bytes = read_at(file, at, (end - at).min(most) as usize)?;
        let (mut unpacked, mut packed, mut values) = (-1, -1, 0);
        let mut walk = Walk::new(&bytes);
        let read = walk.structure(&mut Vec::new(), &mut |path, number| match (path, number) {
            ([2], Some(number)) => unpacked = number,
            ([3], Some(number)) => packed = number,
            ([7, 1], Some(number)) => values = number,
            _ => {}
        });
        if read.is_some() {
            return Some((walk.at as u64, unpacked, packed, values));
        }
    }
    None
}

fn read_at(file: &mut (impl Read + Seek), at: u64, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    file.seek(SeekFrom::Start(at)).ok()?;
    file.read_exact(&mut bytes).ok()?;
    Some(bytes)
}
