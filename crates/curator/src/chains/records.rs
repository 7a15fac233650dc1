//! Records in memory, in blocks: inside a block each column is contiguous, so that loops over records fill registers.

use super::aligned::Aligned;
use crate::CuratorError;

/// Records in a block.
pub const BLOCK: usize = 64;

/// A table of numbers that a model can be asked about. Only an oracle reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct Records {
    columns: usize,
    rows: usize,
    /// Block after block; column k of a block starts at k [`BLOCK`].
    values: Aligned,
}

impl Records {
    /// Records from columns of equal lengths.
    pub fn from_columns(columns: &[Vec<f64>]) -> Result<Self, CuratorError> {
        let rows = columns.first().map_or(0, Vec::len);
        if let Some(column) = columns.iter().position(|column| column.len() != rows) {
            let reason = format!("column {} has another length than the first ({rows})", column + 1);
            return Err(CuratorError::setting("records", reason));
        }
        if rows == 0 || u32::try_from(rows).is_err() {
            let reason = format!("{rows} records: there must be at least 1 and fewer than 2^32");
            return Err(CuratorError::setting("records", reason));
        }
        let mut values = Aligned::zeros(rows.div_ceil(BLOCK) * BLOCK * columns.len());
        for (index, column) in columns.iter().enumerate() {
            for (block, rows) in column.chunks(BLOCK).enumerate() {
                let start = (block * columns.len() + index) * BLOCK;
                values[start..start + rows.len()].copy_from_slice(rows);
            }
        }
        Ok(Self { columns: columns.len(), rows, values })
    }

    /// Number of records.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Numbers in a record.
    pub fn columns(&self) -> usize {
        self.columns
    }

    pub(super) fn blocks(&self) -> usize {
        self.rows.div_ceil(BLOCK)
    }

    /// The blocks from `first` on, at most so many.
    pub(super) fn run(&self, first: usize, blocks: usize) -> Blocks<'_> {
        let (size, last) = (self.columns * BLOCK, self.blocks().min(first + blocks));
        let rows = self.rows.min(last * BLOCK) - first * BLOCK;
        Blocks { values: &self.values[first * size..last * size], size, rows }
    }

    /// One number of one record.
    pub fn value(&self, row: usize, column: usize) -> f64 {
        self.values[self.start(row) + column * BLOCK]
    }

    /// Where a record's first number is; the next is [`BLOCK`] places further.
    #[inline(always)]
    fn start(&self, row: usize) -> usize {
        row / BLOCK * (self.columns * BLOCK) + row % BLOCK
    }

    /// Changes every record in place.
    pub(super) fn map(&mut self, change: impl Fn(&mut [f64])) {
        let mut record = vec![0.0; self.columns];
        for row in 0..self.rows {
            let start = self.start(row);
            let places = (0..self.columns).map(|column| start + column * BLOCK);
            places.clone().zip(&mut record).for_each(|(place, value)| *value = self.values[place]);
            change(&mut record);
            places.zip(&record).for_each(|(place, value)| self.values[place] = *value);
        }
    }

    /// Copies at most [`BLOCK`] records into a block of their own.
    pub(super) fn gather<'g>(&self, chosen: &[u32], gathered: &'g mut [f64]) -> Block<'g> {
        let mut starts = [0; BLOCK];
        for (start, row) in starts.iter_mut().zip(chosen) {
            *start = self.start(*row as usize);
        }
        for (column, values) in gathered.chunks_exact_mut(BLOCK).take(self.columns).enumerate() {
            let from = &self.values[column * BLOCK..];
            for (value, start) in values.iter_mut().zip(&starts[..chosen.len().min(BLOCK)]) {
                *value = from[*start];
            }
        }
        Block { values: gathered, rows: chosen.len().min(BLOCK) }
    }
}

/// At most [`BLOCK`] records, column by column.
#[derive(Debug, Clone, Copy)]
pub struct Block<'r> {
    values: &'r [f64],
    rows: usize,
}

impl<'r> Block<'r> {
    /// Number of records in the block.
    #[inline(always)]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// All columns, with the unused places of a block that is not full.
    #[inline(always)]
    pub(super) fn values(&self) -> &'r [f64] {
        self.values
    }

    /// One column of the records.
    #[inline(always)]
    pub fn column(&self, index: usize) -> &'r [f64] {
        &self.values[index * BLOCK..][..self.rows]
    }
}

/// A run of blocks, all but the last of them full.
#[derive(Debug, Clone, Copy)]
pub(super) struct Blocks<'r> {
    values: &'r [f64],
    size: usize,
    rows: usize,
}

impl<'r> Blocks<'r> {
    #[inline(always)]
    pub(super) fn iter(&self) -> impl Iterator<Item = Block<'r>> + use<'r> {
        let rows = self.rows;
        self.values.chunks_exact(self.size).enumerate().map(
            #[inline(always)]
            move |(index, values)| Block { values, rows: BLOCK.min(rows - index * BLOCK) },
        )
    }
}

impl<'r> From<Block<'r>> for Blocks<'r> {
    fn from(block: Block<'r>) -> Self {
        Self { values: block.values, size: block.values.len(), rows: block.rows }
    }
}

/// Gradients of at most [`BLOCK`] records, coordinate by coordinate.
#[derive(Debug)]
pub struct Gradients<'g> {
    pub(super) values: &'g mut [f64],
    pub(super) rows: usize,
}

impl Gradients<'_> {
    /// One coordinate of the gradients of all records.
    #[inline(always)]
    pub fn coordinate(&mut self, index: usize) -> &mut [f64] {
        &mut self.values[index * BLOCK..][..self.rows]
    }
    /// The first coordinate and the others.
    #[inline(always)]
    pub fn split_first(&mut self) -> (&mut [f64], Gradients<'_>) {
        let (first, values) = self.values.split_at_mut(BLOCK);
        (&mut first[..self.rows], Gradients { values, rows: self.rows })
    }
}
