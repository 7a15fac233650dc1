//! Reading a table as a stream of blocks of records; only the needed columns, in bounded memory.

mod block;
mod csv;
mod limits;
mod line_ends;
mod open;
mod parquet;
mod parquet_values;
mod printed;

use std::path::PathBuf;

use organza_release::Missing;

use block::Needs;
pub use block::{Counts, ResponseRule};
use limits::MOST_THREADS_OF_A_CORE;
use open::Opened;
pub(crate) use printed::{available, printed};

use crate::CuratorError;
use crate::fingerprint::{FingerprintKey, Fingerprinting};
use crate::formula::{BlockColumns, CategoricalColumn, Design};

/// Where a table comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// CSV (also gzipped) or Parquet, told apart by the first bytes.
    File(PathBuf),
    /// CSV on standard input.
    Standard,
}

impl Input {
    /// Whether it can be read more than once: a pipe cannot.
    pub fn is_regular_file(&self) -> bool {
        matches!(self, Input::File(path) if path.is_file())
    }

    /// The name that errors use.
    pub fn name(&self) -> String {
        match self {
            Input::File(path) => path.display().to_string(),
            Input::Standard => "standard input".to_string(),
        }
    }
}

/// How a table is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOptions {
    /// Whether the first line of a CSV file names the columns; without it they are `c1`, `c2`, ...
    pub header: bool,
    /// Field separator of a CSV file.
    pub delimiter: u8,
    /// Whether numbers of a CSV file have a comma where others have a point.
    pub decimal_comma: bool,
    /// What to do with missing values.
    pub missing: Missing,
    /// Number of threads for formats that allow it.
    pub threads: usize,
    /// The key under which the content is fingerprinted while it is read; not at all without one.
    pub fingerprint: Option<FingerprintKey>,
    /// Whether messages show the beginning of a cell that cannot be used. For the holder's own eyes.
    pub show_values: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            header: true,
            delimiter: b',',
            decimal_comma: false,
            missing: Missing::Refused,
            threads: cores(),
            fingerprint: None,
            show_values: false,
        }
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Refuses more threads than a machine can use.
pub fn check_threads(threads: usize) -> Result<(), CuratorError> {
    let most = MOST_THREADS_OF_A_CORE * cores();
    if threads <= most {
        return Ok(());
    }
    Err(CuratorError::setting("threads", format!("{threads} are asked for; at most {most} are of use here")))
}

/// The names of all columns of a table, and no value of it.
pub fn column_names(input: &Input, options: &ReadOptions) -> Result<Vec<String>, CuratorError> {
    match input.open()? {
        Opened::Parquet(path) => parquet::names(path),
        Opened::Text(text) => csv::names(text, &input.name(), options),
    }
}

/// Told about the progress of a long read.
pub trait Progress: Sync {
    /// How far the read has come: `done` of `total` (bytes or rows; the total may be unknown).
    fn update(&self, done: u64, total: Option<u64>);
}

/// No one is watching.
impl Progress for () {
    fn update(&self, _done: u64, _total: Option<u64>) {}
}

/// Where a table is, how it is read, and who is told.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// The table.
    pub input: &'a Input,
    /// How to read it.
    pub options: &'a ReadOptions,
    /// Told about the progress.
    pub progress: &'a dyn Progress,
}

/// A table and how to read it for one design.
pub struct Table<'a> {
    input: &'a Input,
    options: &'a ReadOptions,
    needs: Needs<'a>,
    progress: &'a dyn Progress,
}

impl<'a> Table<'a> {
    /// Prepares to read the columns that a design needs. Nothing is opened yet.
    pub fn new(
        input: &'a Input,
        design: &'a Design,
        options: &'a ReadOptions,
        progress: &'a dyn Progress,
    ) -> Self {
        let (numeric, categorical) = (design.numeric_columns(), design.categorical_columns());
        let needs = Needs::new(numeric, categorical, options, input.name());
        Self { input, options, needs, progress }
    }

    /// The same table, whose first column, the response, must keep a rule.
    #[must_use]
    pub fn with_response_rule(mut self, rule: Option<ResponseRule>) -> Self {
        self.needs.response_rule = rule;
        self
    }

    /// Prepares to read the levels of some columns. Nothing is opened yet.
    pub fn of_levels(reading: &Reading<'a>, columns: &'a [CategoricalColumn]) -> Result<Self, CuratorError> {
        let Reading { input, options, progress } = *reading;
        if options.missing == Missing::Midpoint {
            return Err(CuratorError::setting("missing", "levels have no midpoint: use error or drop"));
        }
        let needs = Needs::new(&[], columns, options, input.name());
        Ok(Self { input, options, needs, progress })
    }

    /// Reads the whole table, in parallel where the format allows it. Each thread folds blocks into a state of
    /// its own; the order of blocks is not fixed.
    pub fn fold<S: Send>(
        &self,
        new_state: impl Fn() -> S + Sync,
        consume: impl Fn(&mut S, &BlockColumns<'_>) -> Result<(), CuratorError> + Sync,
    ) -> Result<(Vec<S>, Counts), CuratorError> {
        check_threads(self.options.threads)?;
        let new_states = || (new_state(), self.fingerprinting());
        let consume = |(state, content): &mut (S, Fingerprinting<'_>), block: &BlockColumns<'_>| {
            content.add(block);
            consume(state, block)
        };
        let (states, mut counts) = match self.input.open()? {
            Opened::Parquet(path) => parquet::fold(self, path, new_states, consume)?,
            Opened::Text(text) => {
                let mut state = new_states();
                let counts = csv::read(self, text, u64::MAX, &mut |event| match event {
                    Event::Block(block) => consume(&mut state, block),
                    Event::BatchEnd(_) => Ok(()),
                })?;
                (vec![state], self.not_empty(counts)?)
            }
        };
        let (states, contents) = states.into_iter().unzip();
        counts.content = Fingerprinting::finish(contents);
        Ok((states, counts))
    }

    fn fingerprinting(&self) -> Fingerprinting<'_> {
        Fingerprinting::new(
            self.options.fingerprint.as_ref(),
            self.needs.numeric.len(),
            self.needs.categorical,
        )
    }

    /// Reads the table in order and marks the end of every batch of `batch_rows` rows of the table, the last and
    /// perhaps shorter one included.
    pub fn for_each_batch(
        &self,
        batch_rows: u64,
        on_event: &mut dyn FnMut(Event<'_>) -> Result<(), CuratorError>,
    ) -> Result<Counts, CuratorError> {
        let mut content = self.fingerprinting();
        let on_event = &mut |event: Event<'_>| {
            if let Event::Block(block) = &event {
                content.add(block);
            }
            on_event(event)
        };
        let mut counts = match self.input.open()? {
            Opened::Parquet(path) => parquet::read_in_order(self, path, batch_rows, on_event)?,
            Opened::Text(text) => csv::read(self, text, batch_rows, on_event)?,
        };
        counts.content = Fingerprinting::finish(vec![content]);
        self.not_empty(counts)
    }

    fn not_empty(&self, counts: Counts) -> Result<Counts, CuratorError> {
        if counts.rows == 0 {
            return Err(CuratorError::EmptyTable { path: self.input.name() });
        }
        Ok(counts)
    }

    /// Looks for the needed columns in the header, and at no value.
    pub fn check_columns(&self) -> Result<(), CuratorError> {
        match self.input.open()? {
            Opened::Parquet(path) => parquet::check_columns(self, path),
            Opened::Text(text) => csv::check_columns(self, text),
        }
    }
}

/// What a reader in order reports.
pub enum Event<'b> {
    /// Some records of the current batch.
    Block(&'b BlockColumns<'b>),
    /// The current batch is complete; how many records it has.
    BatchEnd(u64),
}
