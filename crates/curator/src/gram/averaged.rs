//! Adds runs of records to an exact Gram matrix of their sums.

use pulp::Arch;

use super::accumulator::{IntegerGram, block_rows};
use super::block::{MapRows, Scratch};
use super::product::{BLOCK_ROWS, packed_index};
use super::{GramError, RecordMap};

/// Most records in one row.
pub const MAXIMUM_AVERAGED: u64 = 1 << 20;

/// The sum of `A A'` over runs of K records in the order in which they are added, `A` the sum of a run's records.
///
/// The Gram matrix of averaged records is this over K; the division comes after the noise, so that everything before it is
/// an integer. Coordinates of a record are at most `2^22` and K at most `2^20`, so those of `A` fit into 64 bits and, for up to
/// `2^62` records, the sum is below `2^62 2^20 2^44 = 2^126`. The order of records matters, so there is no merging.
#[derive(Debug, Clone)]
pub struct AveragedAccumulator {
    map: RecordMap,
    architecture: Arch,
    scratch: Scratch,
    scales: Vec<f64>,
    averaged: u64,
    /// Sum of the current, unfinished run.
    run: Vec<i64>,
    in_run: u64,
    total: Vec<i128>,
    records: u64,
}

impl AveragedAccumulator {
    /// An empty sum over runs of `averaged` records, at least 1 and at most [`MAXIMUM_AVERAGED`].
    pub fn new(map: &RecordMap, averaged: u64) -> Self {
        Self {
            architecture: Arch::new(),
            scratch: Scratch::new(map.dimension()),
            scales: vec![0.0; BLOCK_ROWS],
            averaged: averaged.clamp(1, MAXIMUM_AVERAGED),
            run: vec![0; map.dimension()],
            in_run: 0,
            total: vec![0; packed_index(0, map.dimension())],
            records: 0,
            map: map.clone(),
        }
    }

    /// Adds the next records of the table: the columns of the features, then the response, of equal lengths.
    pub fn add_block(&mut self, columns: &[&[f64]]) -> Result<(), GramError> {
        let rows = block_rows(&self.map, columns)?;
        for from in (0..rows).step_by(BLOCK_ROWS) {
            let rows = BLOCK_ROWS.min(rows - from);
            let Self { map, scratch, scales, architecture, .. } = self;
            architecture.dispatch(MapRows { map, columns, from, rows, scratch, scales });
            (0..rows).for_each(|row| self.add_record(row));
        }
        Ok(())
    }

    fn add_record(&mut self, row: usize) {
        for (coordinate, sum) in self.run.iter_mut().enumerate() {
            *sum += self.scratch.value(coordinate, row) as i64;
        }
        self.records += 1;
        self.in_run += 1;
        if self.in_run == self.averaged {
            self.close_run();
        }
    }

    fn close_run(&mut self) {
        for (column, &right) in self.run.iter().enumerate() {
            for (row, &left) in self.run[..=column].iter().enumerate() {
                self.total[packed_index(row, column)] += i128::from(left) * i128::from(right);
            }
        }
        self.run.fill(0);
        self.in_run = 0;
    }

    /// The finished sum, without an unfinished run. It counts all records.
    pub fn finish(self) -> IntegerGram {
        IntegerGram::new(&self.map, self.records, self.total)
    }
}
