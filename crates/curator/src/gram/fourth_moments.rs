//! Exact sums of products of four coordinates.

use pulp::Arch;

use super::accumulator::block_rows;
use super::block::{MapRows, Scratch};
use super::product::BLOCK_ROWS;
use super::{GramError, RecordMap};

/// The sums of `W_i W_j W_k W_l` over the records added so far, for a list of index quadruples.
///
/// On the grid of 16 bits with weights 1 a coordinate is at most `2^16`, a product of two `2^32` and of four `2^64`, so sums of up to
/// `2^62` records (`2^40` stay below `2^104`) fit into 128 bits. A coarser grid would allow 64 bits, but the rounding of records
/// would then be visible beside the noise. **Cost** one 128-bit product per record and quadruple.
#[derive(Debug, Clone)]
pub struct FourthMomentAccumulator {
    map: RecordMap,
    architecture: Arch,
    scratch: Scratch,
    scales: Vec<f64>,
    entries: Vec<[usize; 4]>,
    total: Vec<i128>,
    records: u64,
}

impl FourthMomentAccumulator {
    /// An empty sum; indices count the coordinates of a record, 0 is the constant.
    pub fn new(map: &RecordMap, entries: &[[usize; 4]]) -> Self {
        Self {
            architecture: Arch::new(),
            scratch: Scratch::new(map.dimension()),
            scales: vec![0.0; BLOCK_ROWS],
            entries: entries.to_vec(),
            total: vec![0; entries.len()],
            records: 0,
            map: map.clone(),
        }
    }

    /// Adds the records of a block: the columns of the features, then the response, of equal lengths.
    pub fn add_block(&mut self, columns: &[&[f64]]) -> Result<(), GramError> {
        let rows = block_rows(&self.map, columns)?;
        for from in (0..rows).step_by(BLOCK_ROWS) {
            let rows = BLOCK_ROWS.min(rows - from);
            let Self { map, scratch, scales, architecture, .. } = self;
            architecture.dispatch(MapRows { map, columns, from, rows, scratch, scales });
            self.add_products(rows);
        }
        self.records += rows as u64;
        Ok(())
    }

    fn add_products(&mut self, rows: usize) {
        let scratch = &self.scratch;
        for (total, &[i, j, k, l]) in self.total.iter_mut().zip(&self.entries) {
            for row in 0..rows {
                // Products of two coordinates, below 2^44, are exact in an f64.
                let first = (scratch.value(i, row) * scratch.value(j, row)) as i64;
                let second = (scratch.value(k, row) * scratch.value(l, row)) as i64;
                *total += i128::from(first) * i128::from(second);
            }
        }
    }

    /// Adds the records of another accumulator of the same map and quadruples.
    pub fn merge(&mut self, other: Self) -> Result<(), GramError> {
        if self.map != other.map || self.entries != other.entries {
            return Err(GramError::DifferentMaps);
        }
        self.total.iter_mut().zip(&other.total).for_each(|(total, more)| *total += more);
        self.records += other.records;
        Ok(())
    }

    /// The finished sums.
    pub fn finish(self) -> IntegerMoments {
        IntegerMoments { records: self.records, values: self.total }
    }
}

/// Exact sums of products of four coordinates, in the fourth power of grid steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntegerMoments {
    records: u64,
    values: Vec<i128>,
}

impl IntegerMoments {
    /// Number of records in the sums.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// One sum per quadruple, in order.
    pub fn values(&self) -> &[i128] {
        &self.values
    }
}
