//! Sums of products of columns: the upper triangle of `W'W`, as fast as one core multiplies.
//!
//! Registers run along the *rows* of a block: a tile of 4 by 3 pairs of columns needs 7 loads for 12 multiply-adds,
//! no packing and no broadcasts, and each column is read where the elementwise pass wrote it. Lanes are added at the
//! end of a block. The order of additions depends on the processor, which is harmless for integers: as long as
//! `rows * largest^2 <= 2^53` every partial sum is exact, fused or not.

use super::GramError;
use pulp::{Arch, Simd, WithSimd};
use std::array::from_fn;

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

/// Adds the sum of products of every pair of columns to `sums`, placed by [`packed_index`].
pub fn add_products(architecture: Arch, columns: Columns<'_>, sums: &mut [f64]) -> Result<(), GramError> {
    let expected = packed_index(0, columns.count);
    if sums.len() != expected {
        return Err(GramError::ColumnCount { expected, found: sums.len() });
    }
    architecture.dispatch(Pass { columns, sums });
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
        let mut first = 0;
        for group in Groups::of(self.columns.count) {
            match group {
                4 => self.group::<S, 4>(simd, first),
                3 => self.group::<S, 3>(simd, first),
                2 => self.group::<S, 2>(simd, first),
                _ => self.group::<S, 1>(simd, first),
            }
            first += group;
        }
        self.remaining_rows::<S>();
    }
}

impl<'a> Pass<'a> {
    /// All pairs whose smaller index is one of the `A` columns from `first` on.
    #[inline(always)]
    fn group<S: Simd, const A: usize>(&mut self, simd: S, first: usize) {
        self.triangle::<S, A>(simd, first);
        let mut next = first + A;
        while next < self.columns.count {
            // Four columns go as 2 + 2: a tile of one column would wait for its own additions.
            match self.columns.count - next {
                1 => self.rectangle::<S, A, 1>(simd, first, next),
                2 | 4 => self.rectangle::<S, A, 2>(simd, first, next),
                _ => self.rectangle::<S, A, 3>(simd, first, next),
            }
            next += [0, 1, 2, 3, 2].get(self.columns.count - next).copied().unwrap_or(3);
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

    #[inline(always)]
    fn rectangle<S: Simd, const A: usize, const B: usize>(&mut self, simd: S, first: usize, second: usize) {
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
        for (b, sums) in sums.iter().enumerate() {
            for (a, &lanes) in sums.iter().enumerate() {
                self.sums[packed_index(first + a, second + b)] += simd.reduce_sum_f64s(lanes);
            }
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

    #[test]
    fn every_size_agrees_with_integers() {
        for count in 0..=27 {
            for rows in [0, 1, 3, 4, 9, 64] {
                let stride = rows + 3;
                let value = |i: usize| ((i * 7919 + 13) % 131_072) as i64 - 65_536;
                let values: Vec<f64> = (0..count * stride).map(|i| value(i) as f64).collect();
                let columns = Columns::new(&values, stride, rows, count).expect("fits");
                let mut sums = vec![1.0; packed_index(0, count)];
                add_products(Arch::new(), columns, &mut sums).expect("right length");
                for b in 0..count {
                    for a in 0..=b {
                        let exact: i64 =
                            (0..rows).map(|r| value(a * stride + r) * value(b * stride + r)).sum();
                        assert_eq!(sums[packed_index(a, b)] as i64, exact + 1, "{count} {rows} ({a}, {b})");
                    }
                }
            }
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
