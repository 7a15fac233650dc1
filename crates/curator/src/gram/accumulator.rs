//! Adds blocks of rows to an exact Gram matrix.

use super::block::{MapRows, Scratch};
use super::product::{BLOCK_ROWS, add_products, packed_index};
use super::{GramError, RecordMap};
use pulp::Arch;

/// Integers up to here are exact in an `f64`.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The sum of `W W'` over the records added so far.
///
/// Blocks go through `f64` sums that stay exact integers, and from there into 128-bit integers, which cannot overflow
/// (`2^64` records of coordinates up to `2^22` need 108 bits). No memory is allocated after construction.
#[derive(Debug, Clone)]
pub struct GramAccumulator {
    map: RecordMap,
    architecture: Arch,
    scratch: Scratch,
    scales: Vec<f64>,
    /// Exact sums of the records since the last flush.
    pending: Vec<f64>,
    pending_records: u64,
    /// `2^53 / reach^2`: so many records may be pending.
    pending_limit: u64,
    total: Vec<i128>,
    records: u64,
}

impl GramAccumulator {
    /// An empty sum.
    pub fn new(map: &RecordMap) -> Self {
        let entries = packed_index(0, map.dimension());
        let scratch = Scratch::new(map.dimension());
        let reach = map.reach();
        Self {
            architecture: Arch::new(),
            scales: vec![0.0; BLOCK_ROWS],
            scratch,
            pending: vec![0.0; entries],
            pending_records: 0,
            pending_limit: (EXACT / (reach * reach)) as u64,
            total: vec![0; entries],
            records: 0,
            map: map.clone(),
        }
    }

    /// Adds the records of a block: the columns of the features, then the response, of equal lengths.
    ///
    /// Apply the rule for missing values first. A `NaN` counts as the lower bound here, so that no value can break the
    /// domain, but that is a safety net, not a rule.
    pub fn add_block(&mut self, columns: &[&[f64]]) -> Result<(), GramError> {
        let rows = block_rows(&self.map, columns)?;
        for from in (0..rows).step_by(BLOCK_ROWS) {
            self.add_rows(columns, from, BLOCK_ROWS.min(rows - from))?;
        }
        Ok(())
    }

    fn add_rows(&mut self, columns: &[&[f64]], from: usize, rows: usize) -> Result<(), GramError> {
        if self.pending_records + rows as u64 > self.pending_limit {
            self.flush();
        }
        let Self { map, scratch, scales, architecture, .. } = self;
        architecture.dispatch(MapRows { map, columns, from, rows, scratch, scales });
        if let Some(block) = self.scratch.columns(rows) {
            add_products(self.architecture, block, &mut self.pending)?;
        }
        self.pending_records += rows as u64;
        self.records += rows as u64;
        Ok(())
    }

    fn flush(&mut self) {
        for (total, pending) in self.total.iter_mut().zip(&mut self.pending) {
            *total += i128::from(*pending as i64);
            *pending = 0.0;
        }
        self.pending_records = 0;
    }

    /// Adds the records of another accumulator of the same map.
    pub fn merge(&mut self, mut other: Self) -> Result<(), GramError> {
        if self.map != other.map {
            return Err(GramError::DifferentMaps);
        }
        other.flush();
        for (total, more) in self.total.iter_mut().zip(&other.total) {
            *total += more;
        }
        self.records += other.records;
        Ok(())
    }

    /// The finished sum.
    pub fn finish(mut self) -> IntegerGram {
        self.flush();
        IntegerGram::new(&self.map, self.records, self.total)
    }
}

/// Number of rows of a block, if its columns are those of the map and agree in length.
pub(super) fn block_rows(map: &RecordMap, columns: &[&[f64]]) -> Result<usize, GramError> {
    let (expected, found) = (map.columns(), columns.len());
    if expected != found {
        return Err(GramError::ColumnCount { expected, found });
    }
    let rows = columns.first().map_or(0, |column| column.len());
    match columns.iter().position(|column| column.len() != rows) {
        None => Ok(rows),
        Some(column) => Err(GramError::RowCount { column, expected: rows, found: columns[column].len() }),
    }
}

/// An exact Gram matrix in grid steps: entry `(i, j)` is `4^grid_bits` times the normalised one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntegerGram {
    records: u64,
    dimension: usize,
    grid_bits: u32,
    upper: Vec<i128>,
}

impl IntegerGram {
    pub(super) fn new(map: &RecordMap, records: u64, upper: Vec<i128>) -> Self {
        Self { records, dimension: map.dimension(), grid_bits: map.grid_bits(), upper }
    }

    /// Number of records in the sum.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Coordinates of a record: the intercept if present, the features, the response.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Bits of the grid.
    pub fn grid_bits(&self) -> u32 {
        self.grid_bits
    }

    /// The upper triangle, column after column: `(0,0) (0,1) (1,1) (0,2) ...`, placed by [`packed_index`].
    pub fn upper(&self) -> &[i128] {
        &self.upper
    }

    /// One entry, in either order of indices; `None` outside the matrix.
    pub fn entry(&self, row: usize, column: usize) -> Option<i128> {
        let (row, column) = (row.min(column), row.max(column));
        if column < self.dimension { self.upper.get(packed_index(row, column)).copied() } else { None }
    }
}
