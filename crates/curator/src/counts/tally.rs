//! Counting: exact integers, the same for every number of threads and every order of rows.

use organza_release::LevelColumn;

use crate::CuratorError;
use crate::formula::BlockColumns;

/// Exact counts of all tables. They never leave this crate without noise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExactCounts {
    pub(super) counts: Vec<u64>,
    pub(super) records: u64,
}

impl ExactCounts {
    /// Number of records that were counted.
    pub fn records(&self) -> u64 {
        self.records
    }
}

/// How the levels of a record become a cell: the last column changes fastest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cells {
    /// Position of a column among those that are read, and its number of levels.
    columns: Vec<(usize, usize)>,
}

impl Cells {
    /// The cells of a table; its columns are among those that are read.
    pub(crate) fn new(table: &[String], read: &[LevelColumn]) -> Self {
        let place = |name: &String| {
            let position = read.iter().position(|column| column.name == *name)?;
            Some((position, read[position].levels.len()))
        };
        Self { columns: table.iter().filter_map(place).collect() }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.columns.iter().map(|(_, levels)| levels).product()
    }

    /// The cell of a row.
    pub(crate) fn of_row(&self, block: &BlockColumns<'_>, row: usize) -> usize {
        let next = |cell: usize, &(column, levels): &(usize, usize)| {
            cell * levels + block.categorical[column][row] as usize
        };
        self.columns.iter().fold(0, next)
    }
}

/// Counts that grow block by block.
#[derive(Debug, Clone)]
pub(super) struct Tally {
    tables: Vec<Cells>,
    exact: ExactCounts,
}

impl Tally {
    pub(super) fn new(tables: &[Vec<String>], read: &[LevelColumn]) -> Self {
        let tables: Vec<Cells> = tables.iter().map(|table| Cells::new(table, read)).collect();
        let cells = tables.iter().map(Cells::count).sum();
        Self { tables, exact: ExactCounts { counts: vec![0; cells], records: 0 } }
    }

    pub(super) fn add(&mut self, block: &BlockColumns<'_>) -> Result<(), CuratorError> {
        let rows = block.rows();
        let mut rest = self.exact.counts.as_mut_slice();
        for cells in &self.tables {
            let (counts, later) = rest.split_at_mut(cells.count());
            for row in 0..rows {
                counts[cells.of_row(block, row)] += 1;
            }
            rest = later;
        }
        self.exact.records += rows as u64;
        Ok(())
    }

    pub(super) fn merge(&mut self, other: &Tally) {
        self.exact.counts.iter_mut().zip(&other.exact.counts).for_each(|(sum, more)| *sum += more);
        self.exact.records += other.exact.records;
    }

    pub(super) fn finish(self) -> ExactCounts {
        self.exact
    }
}
