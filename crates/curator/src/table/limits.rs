//! How large the parts of a table may be. A hostile file ends in an error that names one of these, not in a full memory.

pub(super) use organza_mcmc::files::parquet_check::MOST_COLUMNS;

/// The most bytes of a cell of text; no level and no number is longer.
pub(super) const MOST_CELL_BYTES: usize = 1 << 20;

/// The most bytes of a record of text, line feeds inside of quotes included. The reader holds one record at a time.
pub(super) const MOST_RECORD_BYTES: u64 = 16 << 20;

/// Threads for each core; more only wait for each other.
pub(super) const MOST_THREADS_OF_A_CORE: usize = 4;

/// The most characters of a name or a cell in a message.
pub(crate) const MOST_PRINTED: usize = 40;

/// The most names in a message.
pub(crate) const MOST_NAMES: usize = 8;
