//! The elementwise pass over a block of records, column by column: the same bits as `RecordMap::integer_record`.

use super::RecordMap;
use super::product::{BLOCK_ROWS, Columns};
use super::record_map::{ColumnMap, cut, record_scale};
use pulp::{Simd, WithSimd};

/// Doubles in a cache line; also a multiple of the lanes of every register.
const LINE: usize = 8;

/// Integer-valued columns of one block of records, [`BLOCK_ROWS`] apart, reused for every block.
#[derive(Debug, Clone)]
pub(super) struct Scratch {
    values: Vec<f64>,
    /// Where the first cache line of `values` starts: registers that straddle lines cost a second load.
    start: usize,
    dimension: usize,
}

impl Scratch {
    pub(super) fn new(dimension: usize) -> Self {
        let values = vec![0.0; dimension * BLOCK_ROWS + LINE];
        let start = values.as_ptr().align_offset(64).min(LINE);
        Self { values, start, dimension }
    }

    /// The first `rows` records, filled up with zeros to whole registers.
    pub(super) fn columns(&self, rows: usize) -> Option<Columns<'_>> {
        let rows = rows.next_multiple_of(LINE);
        Columns::new(&self.values[self.start..], BLOCK_ROWS, rows, self.dimension)
    }

    /// One coordinate of one of the records that were mapped last.
    #[inline(always)]
    pub(super) fn value(&self, coordinate: usize, row: usize) -> f64 {
        self.values[self.start + coordinate * BLOCK_ROWS + row]
    }

    #[inline(always)]
    fn column(&mut self, index: usize, rows: usize) -> &mut [f64] {
        let column = &mut self.values[self.start + index * BLOCK_ROWS..][..BLOCK_ROWS];
        column[rows..rows.next_multiple_of(LINE)].fill(0.0);
        &mut column[..rows]
    }
}

/// Maps rows `from .. from + rows` of the table's columns into the scratch.
pub(super) struct MapRows<'a> {
    pub(super) map: &'a RecordMap,
    pub(super) columns: &'a [&'a [f64]],
    pub(super) from: usize,
    pub(super) rows: usize,
    pub(super) scratch: &'a mut Scratch,
    /// As many as the scratch has rows.
    pub(super) scales: &'a mut [f64],
}

impl WithSimd for MapRows<'_> {
    type Output = ();

    // Plain loops: the dispatcher compiles them for each instruction set. Rust never fuses a product and a sum.
    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _simd: S) {
        match self.map.radius {
            None => self.round_records(),
            Some(radius) => self.scale_records(radius),
        }
    }
}

impl<'a> MapRows<'a> {
    /// Each column of the table with its map and its coordinate in a record.
    #[inline(always)]
    fn inputs(&self) -> impl ExactSizeIterator<Item = (usize, &'a ColumnMap, &'a [f64])> + use<'a> {
        let first = usize::from(self.map.intercept.is_some());
        let (from, rows) = (self.from, self.rows);
        let columns = self.map.columns.iter().zip(self.columns).enumerate();
        columns.map(move |(index, (map, column))| (first + index, map, &column[from..from + rows]))
    }

    #[inline(always)]
    fn round_records(&mut self) {
        if let Some(intercept) = self.map.intercept {
            self.scratch.column(0, self.rows).fill(intercept);
        }
        for (coordinate, map, input) in self.inputs() {
            for (value, &x) in self.scratch.column(coordinate, self.rows).iter_mut().zip(input) {
                *value = map.coordinate(x).round_ties_even();
            }
        }
    }

    #[inline(always)]
    fn scale_records(&mut self, radius: f64) {
        let inputs = self.inputs();
        let features = inputs.len() - 1;
        let intercept = self.map.intercept.unwrap_or(0.0);
        let scales = &mut self.scales[..self.rows];
        scales.fill(intercept * intercept);
        for (coordinate, map, input) in inputs.take(features) {
            let output = self.scratch.column(coordinate, self.rows);
            for ((value, squared_norm), &x) in output.iter_mut().zip(&mut *scales).zip(input) {
                *value = map.coordinate(x);
                *squared_norm += *value * *value;
            }
        }
        for scale in &mut *scales {
            *scale = record_scale(radius, *scale);
        }
        self.round_scaled();
    }

    /// Multiplies the coordinates by the records' scales and rounds them.
    #[inline(always)]
    fn round_scaled(&mut self) {
        let features = self.inputs().len() - 1;
        let scales = &self.scales[..self.rows];
        if let Some(intercept) = self.map.intercept {
            for (value, scale) in self.scratch.column(0, self.rows).iter_mut().zip(scales) {
                *value = (intercept * scale).round_ties_even();
            }
        }
        for (coordinate, ..) in self.inputs().take(features) {
            for (value, scale) in self.scratch.column(coordinate, self.rows).iter_mut().zip(scales) {
                *value = (*value * scale).round_ties_even();
            }
        }
        let limit = self.map.response_limit;
        for (coordinate, map, input) in self.inputs().skip(features) {
            let output = self.scratch.column(coordinate, self.rows);
            for ((value, scale), &x) in output.iter_mut().zip(scales).zip(input) {
                *value = cut(map.coordinate(x) * scale, limit).round_ties_even();
            }
        }
    }
}
