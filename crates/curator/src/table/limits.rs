//! How large the parts of a table may be. A hostile file ends in an error that names one of these, not in a full memory.

/// The most bytes of a cell of text; no level and no number is longer.
pub(super) const MOST_CELL_BYTES: usize = 1 << 20;

/// The most bytes of a record of text, line feeds inside of quotes included. The reader holds one record at a time.
pub(super) const MOST_RECORD_BYTES: u64 = 16 << 20;

/// The most columns of a table; a few megabytes of names.
pub(super) const MOST_COLUMNS: usize = 100_000;

/// The most bytes of a Parquet page once it is unpacked. Writers make pages of one megabyte.
pub(super) const MOST_PAGE_BYTES: i64 = 256 << 20;

/// The most bytes of the footer of a Parquet file; what is made of it takes some ten times as much.
pub(super) const MOST_FOOTER_BYTES: usize = 64 << 20;

/// The deepest nesting of a Parquet schema, and of the structures that describe it.
pub(super) const DEEPEST_SCHEMA: usize = 32;

/// Threads for each core; more only wait for each other.
pub(super) const MOST_THREADS_OF_A_CORE: usize = 4;

/// The most characters of a name or a cell in a message.
pub(crate) const MOST_PRINTED: usize = 40;

/// The most names in a message.
pub(crate) const MOST_NAMES: usize = 8;
