//! Exact counts of values, coarse enough to be kept and fine enough for any grid.

use std::collections::BTreeMap;

use crate::CuratorError;
use crate::bounds::{Bounds, ColumnBounds};
use crate::formula::{BlockColumns, Design, quoted_name};

/// Bits of a double that are dropped: sixteen of the mantissa stay.
const DROPPED_BITS: u32 = 36;

/// Wide enough for any number in a table, and finite when squared.
const REACH: f64 = 1e100;

/// Every column, of numbers, as a feature of its own: only values are of interest, not a formula's terms.
pub(super) fn plain_design(columns: &[&str]) -> Result<Design, CuratorError> {
    let mut wide = Bounds::default();
    for name in columns {
        wide.insert(name, ColumnBounds::Numeric { lower: -REACH, upper: REACH })?;
    }
    let quoted: Vec<String> = columns.iter().map(|name| quoted_name(name)).collect();
    let plain = format!("{} ~ {}", quoted[0], [&["1".to_string()], &quoted[1..]].concat().join(" + "));
    Ok(Design::compile(&plain.parse()?, &wide)?)
}

/// How often each value occurs, to a part in 65,000. It never leaves this crate without noise.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExactValues {
    columns: Vec<BTreeMap<u64, u64>>,
    records: u64,
}

impl ExactValues {
    pub(super) fn new(columns: usize) -> Self {
        Self { columns: vec![BTreeMap::new(); columns], records: 0 }
    }

    /// Number of records that were counted.
    pub fn records(&self) -> u64 {
        self.records
    }

    pub(super) fn add(&mut self, block: &BlockColumns<'_>) -> Result<(), CuratorError> {
        for (counts, values) in self.columns.iter_mut().zip(block.numeric) {
            for value in *values {
                *counts.entry((value + 0.0).to_bits() >> DROPPED_BITS).or_default() += 1;
            }
        }
        self.records += block.rows() as u64;
        Ok(())
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (counts, more) in self.columns.iter_mut().zip(&other.columns) {
            more.iter().for_each(|(key, count)| *counts.entry(*key).or_default() += count);
        }
        self.records += other.records;
    }

    /// How many records of a column are in each cell of a grid.
    pub(super) fn cells(&self, column: usize, cells: usize, cell: impl Fn(f64) -> usize) -> Vec<u64> {
        let mut counts = vec![0; cells];
        for (key, count) in &self.columns[column] {
            counts[cell(f64::from_bits(key << DROPPED_BITS))] += count;
        }
        counts
    }
}
