//! Sums of products of columns: the upper triangle of `W'W`, as fast as one core multiplies.
//!
//! Registers run along the *rows* of a block: a tile of 4 by 3 pairs of columns needs 7 loads for 12 multiply-adds,
//! no packing and no broadcasts, and each column is read where the elementwise pass wrote it. Lanes are added at the
//! end of a block. The order of additions depends on the processor, which is harmless for integers: as long as
//! `rows * largest^2 <= 2^53` every partial sum is exact, fused or not.

use super::GramError;
use pulp::{Arch, Simd, WithSimd};
use std::array::from_fn;
use std::ops::Range;

/// Columns of equal length in one slice: column `j` is `values[j * stride ..][.. rows]`.
#[derive(Debug, Clone, Copy)]
pub struct Columns<'a> {
    values: &'a [f64],
    stride: usize,
    rows: usize,
    count: usize,
}

impl<'a> Columns<'a> {
    /// `count` columns of `rows` values; `None` if the slice is too short or columns would overlap.
    pub fn new(values: &'a [f64], stride: usize, rows: usize, count: usize) -> Option<Self> {
        let needed =
            count.checked_sub(1).map_or(Some(0), |last| last.checked_mul(stride)?.checked_add(rows))?;
        (rows <= stride && needed <= values.len()).then_some(Self { values, stride, rows, count })
    }

    #[inline(always)]
    fn column(&self, index: usize) -> &'a [f64] {
        &self.values[index * self.stride..index * self.stride + self.rows]
    }
}

/// Place of the pair `row <= column` in a packed upper triangle, column after column.
#[inline(always)]
pub const fn packed_index(row: usize, column: usize) -> usize {
    column * (column + 1) / 2 + row
}

/// Rows whose columns are multiplied together: seven columns of a tile fit in a first-level cache of 32 kB and start
/// at different places of it (with 512 rows they would not, at a loss of 8 percent).
pub const BLOCK_ROWS: usize = 448;

/// Columns on the right side of the tiles in one sweep: with [`BLOCK_ROWS`] they stay in a second-level cache.
const PANEL: usize = 96;

/// Adds the sum of products of every pair of columns to `sums`, placed by [`packed_index`].
#[inline(never)]
pub fn add_products(architecture: Arch, columns: Columns<'_>, sums: &mut [f64]) -> Result<(), GramError> {
    let expected = packed_index(0, columns.count);
    if sums.len() != expected {
        return Err(GramError::ColumnCount { expected, found: sums.len() });
    }
    let rows = if columns.count == 0 { 0 } else { columns.rows };
    for from in (0..rows).step_by(BLOCK_ROWS) {
        let rows = BLOCK_ROWS.min(rows - from);
        let columns = Columns { values: &columns.values[from..], rows, ..columns };
        architecture.dispatch(Pass { columns, sums });
    }
    Ok(())
}

struct Pass<'a> {
    columns: Columns<'a>,
    sums: &'a mut [f64],
}

impl WithSimd for Pass<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        for start in (0..self.columns.count).step_by(PANEL) {
            let panel = start..self.columns.count.min(start + PANEL);
            let mut first = 0;
            for group in Groups::of(self.columns.count) {
                match group {
                    4 => self.group::<S, 4>(simd, first, &panel),
                    3 => self.group::<S, 3>(simd, first, &panel),
                    2 => self.group::<S, 2>(simd, first, &panel),
                    _ => self.group::<S, 1>(simd, first, &panel),
                }
                first += group;
            }
        }
        self.remaining_rows::<S>();
    }
}

impl<'a> Pass<'a> {
    /// All pairs of one of the `A` columns from `first` on with a later column of the panel.
    #[inline(always)]
    fn group<S: Simd, const A: usize>(&mut self, simd: S, first: usize, panel: &Range<usize>) {
        if panel.contains(&first) {
            self.triangle::<S, A>(simd, first);
        }
        let mut next = panel.start.max(first + A);
        while next < panel.end {
            // Four columns go as 2 + 2: a tile of one column would wait for its own additions.
            next += match panel.end - next {
                1 => self.rectangle::<S, A, 1>(simd, first, next),
                2 | 4 => self.rectangle::<S, A, 2>(simd, first, next),
                _ => self.rectangle::<S, A, 3>(simd, first, next),
            }
        }
    }

    #[inline(always)]
    fn lanes<S: Simd, const N: usize>(&self, first: usize) -> [&'a [S::f64s]; N] {
        let length = self.columns.rows / S::F64_LANES;
        from_fn(|offset| &S::as_simd_f64s(self.columns.column(first + offset)).0[..length])
    }

    #[inline(always)]
    fn triangle<S: Simd, const A: usize>(&mut self, simd: S, first: usize) {
        let columns = self.lanes::<S, A>(first);
        let mut sums = [[simd.splat_f64s(0.0); A]; A];
        for row in 0..columns[0].len() {
            let values = row_of::<S, A>(&columns, row);
            for b in 0..A {
                for a in 0..=b {
                    sums[b][a] = simd.mul_add_e_f64s(values[a], values[b], sums[b][a]);
                }
            }
        }
        for (b, sums) in sums.iter().enumerate() {
            for (a, &lanes) in sums.iter().enumerate().take(b + 1) {
                self.sums[packed_index(first + a, first + b)] += simd.reduce_sum_f64s(lanes);
            }
        }
    }

    /// Returns the number of columns on the right side.
    #[inline(always)]
    fn rectangle<S: Simd, const A: usize, const B: usize>(
        &mut self,
        simd: S,
        first: usize,
        second: usize,
    ) -> usize {
        let left = self.lanes::<S, A>(first);
        let right = self.lanes::<S, B>(second);
        let mut sums = [[simd.splat_f64s(0.0); A]; B];
        for row in 0..left[0].len() {
            let (left, right) = (row_of::<S, A>(&left, row), row_of::<S, B>(&right, row));
            for a in 0..A {
                for b in 0..B {
                    sums[b][a] = simd.mul_add_e_f64s(left[a], right[b], sums[b][a]);
                }
            }
        }
        for (b, lanes) in sums.iter().enumerate() {
            self.add(packed_index(first, second + b), lanes.map(|lanes| simd.reduce_sum_f64s(lanes)));
        }
        B
    }

    #[inline(always)]
    fn add<const A: usize>(&mut self, place: usize, more: [f64; A]) {
        for (sum, more) in self.sums[place..place + A].iter_mut().zip(more) {
            *sum += more;
        }
    }

    /// Rows that do not fill a register.
    #[inline(always)]
    fn remaining_rows<S: Simd>(&mut self) {
        for row in self.columns.rows / S::F64_LANES * S::F64_LANES..self.columns.rows {
            for b in 0..self.columns.count {
                let value = self.columns.column(b)[row];
                for a in 0..=b {
                    self.sums[packed_index(a, b)] += self.columns.column(a)[row] * value;
                }
            }
        }
    }
}

#[inline(always)]
fn row_of<S: Simd, const N: usize>(columns: &[&[S::f64s]; N], row: usize) -> [S::f64s; N] {
    from_fn(|index| columns[index][row])
}

/// Splits columns into groups of at most four, as even as possible (5 is 3 + 2, not 4 + 1).
struct Groups {
    columns: usize,
    groups: usize,
}

impl Groups {
    fn of(columns: usize) -> Self {
        Self { columns, groups: columns.div_ceil(4) }
    }
}

impl Iterator for Groups {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let group = self.columns.div_ceil(self.groups.max(1));
        self.columns -= group;
        self.groups = self.groups.saturating_sub(1);
        (group > 0).then_some(group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_exact(count: usize, rows: usize) {
        let stride = rows + 3;
        let value = |i: usize| ((i * 7919 + 13) % 131_072) as i64 - 65_536;
        let values: Vec<f64> = (0..count * stride).map(|i| value(i) as f64).collect();
        let columns = Columns::new(&values, stride, rows, count).expect("fits");
        let mut sums = vec![1.0; packed_index(0, count)];
        add_products(Arch::new(), columns, &mut sums).expect("right length");
        for b in 0..count {
            for a in 0..=b {
                let exact: i64 = (0..rows).map(|row| value(a * stride + row) * value(b * stride + row)).sum();
                assert_eq!(
                    sums[packed_index(a, b)] as i64,
                    exact + 1,
                    "{count} columns, {rows} rows: ({a}, {b})"
                );
            }
        }
    }

    #[test]
    fn every_size_agrees_with_integers() {
        for count in 0..=27 {
            for rows in [0, 1, 3, 4, 9, 64, 1000] {
                assert_exact(count, rows);
            }
        }
        for count in [PANEL - 1, PANEL, PANEL + 1, PANEL + 2, 2 * PANEL + 5] {
            assert_exact(count, 20);
        }
    }

    #[test]
    fn scalar_and_vector_paths_agree() {
        let values: Vec<f64> = (0..7 * 100).map(|i| f64::from((i * 31 % 2001) - 1000)).collect();
        let columns = Columns::new(&values, 100, 100, 7).expect("fits");
        let mut vector = vec![0.0; packed_index(0, 7)];
        let mut scalar = vector.clone();
        add_products(Arch::new(), columns, &mut vector).expect("right length");
        Pass { columns, sums: &mut scalar }.with_simd(pulp::Scalar);
        assert_eq!(vector, scalar);
    }

    #[test]
    fn groups_are_even_and_complete() {
        for columns in 0..100 {
            let groups: Vec<usize> = Groups::of(columns).collect();
            assert_eq!(groups.iter().sum::<usize>(), columns);
            assert!(groups.iter().all(|&group| (1..=4).contains(&group)));
            assert!(columns < 2 || groups.iter().all(|&group| group > 1), "{columns}: {groups:?}");
        }
    }

    #[test]
    fn wrong_shapes_are_refused() {
        assert!(Columns::new(&[0.0; 9], 5, 5, 2).is_none());
        assert!(Columns::new(&[0.0; 9], 4, 5, 2).is_none());
        assert!(Columns::new(&[0.0; 9], usize::MAX, 5, 3).is_none());
        let columns = Columns::new(&[0.0; 9], 4, 4, 2).expect("fits");
        assert!(add_products(Arch::new(), columns, &mut [0.0; 2]).is_err());
    }
}
