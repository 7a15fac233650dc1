//! Cholesky factors of matrices of some hundred rows: blocks of columns, tiles of four by four in registers.
//!
//! The order of the additions is fixed by the size alone, so the bits are the same on every machine.

use super::cholesky::factorise;
use super::product::dot;

/// Columns of a block.
const WIDTH: usize = 16;
/// Below this size blocks do not pay.
const SMALL: usize = 24;

/// Numbers of scratch memory that [`factorise_blocked`] needs.
pub(crate) fn blocked_scratch(size: usize) -> usize {
    WIDTH * size
}

/// Replaces A by its lower factor, like [`factorise`]; the upper triangle is neither read nor cleared.
pub(crate) fn factorise_blocked(matrix: &mut [f64], size: usize, scratch: &mut [f64]) -> Result<(), usize> {
    if size < SMALL {
        return factorise(matrix, size);
    }
    for start in (0..size).step_by(WIDTH) {
        let width = WIDTH.min(size - start);
        pack(matrix, size, (start, width), scratch);
        subtract_products(matrix, size, (start, width), scratch);
        finish_block(matrix, size, (start, width))?;
    }
    Ok(())
}

/// Copies rows `start..start + width` of the finished columns, transposed, in strips of four; a short strip ends in zeros.
fn pack(matrix: &[f64], size: usize, (start, width): (usize, usize), scratch: &mut [f64]) {
    if start == 0 {
        return;
    }
    for (strip, packed) in scratch.chunks_exact_mut(4 * start).enumerate().take(width.div_ceil(4)) {
        for lane in 0..4 {
            let row = start + 4 * strip + lane;
            let inside = 4 * strip + lane < width;
            for (column, quad) in packed.chunks_exact_mut(4).enumerate() {
                quad[lane] = if inside { matrix[row * size + column] } else { 0.0 };
            }
        }
    }
}

/// Subtracts L[rows, ..start] L[block, ..start]' from the block's columns, for all rows from `start` on.
fn subtract_products(matrix: &mut [f64], size: usize, (start, width): (usize, usize), packed: &[f64]) {
    if start == 0 {
        return;
    }
    let mut rows = matrix[start * size..].chunks_exact_mut(4 * size);
    for group in &mut rows {
        let (a, rest) = group.split_at_mut(size);
        let (b, rest) = rest.split_at_mut(size);
        let (c, d) = rest.split_at_mut(size);
        for (strip, columns) in packed.chunks_exact(4 * start).enumerate().take(width.div_ceil(4)) {
            let sums = tile([&a[..start], &b[..start], &c[..start], &d[..start]], columns);
            let (first, last) = (start + 4 * strip, (start + 4 * strip + 4).min(start + width));
            for (row, sum) in [&mut *a, &mut *b, &mut *c, &mut *d].into_iter().zip(&sums) {
                row[first..last].iter_mut().zip(sum).for_each(|(entry, value)| *entry -= value);
            }
        }
    }
    for row in rows.into_remainder().chunks_exact_mut(size) {
        subtract_from_row(row, (start, width), packed);
    }
}

/// The same for one row: fewer than four are left at the end.
fn subtract_from_row(row: &mut [f64], (start, width): (usize, usize), packed: &[f64]) {
    let (done, open) = row.split_at_mut(start);
    for (strip, columns) in packed.chunks_exact(4 * start).enumerate().take(width.div_ceil(4)) {
        let mut sums = [0.0; 4];
        for (factor, quad) in done.iter().zip(columns.chunks_exact(4)) {
            (0..4).for_each(|lane| sums[lane] += factor * quad[lane]);
        }
        let last = (4 * strip + 4).min(width);
        open[4 * strip..last].iter_mut().zip(sums).for_each(|(entry, value)| *entry -= value);
    }
}

/// Sixteen inner products at once.
#[inline]
fn tile(rows: [&[f64]; 4], columns: &[f64]) -> [[f64; 4]; 4] {
    let mut sums = [[0.0; 4]; 4];
    let [a, b, c, d] = rows;
    for ((((a, b), c), d), quad) in a.iter().zip(b).zip(c).zip(d).zip(columns.chunks_exact(4)) {
        for lane in 0..4 {
            sums[0][lane] += a * quad[lane];
            sums[1][lane] += b * quad[lane];
            sums[2][lane] += c * quad[lane];
            sums[3][lane] += d * quad[lane];
        }
    }
    sums
}

/// Factorises the block on the diagonal and solves for the rows below it.
fn finish_block(matrix: &mut [f64], size: usize, (start, width): (usize, usize)) -> Result<(), usize> {
    for row in start..size {
        let (above, current) = matrix.split_at_mut(row * size);
        let current = &mut current[start..start + width];
        let reach = width.min(row - start);
        for column in 0..reach {
            let other = &above[(start + column) * size + start..][..=column];
            let rest = current[column] - dot(&current[..column], &other[..column]);
            current[column] = rest / other[column];
        }
        if reach < width {
            let rest = current[reach] - dot(&current[..reach], &current[..reach]);
            // Written so that NaN fails too.
            if !(rest > 0.0 && rest.is_finite()) {
                return Err(row);
            }
            current[reach] = rest.sqrt();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a strip or a remainder of rows that is left out: every size from 1 to 70 has its own.
    #[test]
    fn blocks_give_the_plain_factor() {
        for size in (1..=70).chain([231]) {
            let entry = |i: usize, j: usize| ((i * 31 + j * 17) % 23) as f64 / 23.0 - 0.4;
            let mut matrix = vec![0.0; size * size];
            for i in 0..size {
                for j in 0..size {
                    let unit = if i == j { 0.3 } else { 0.0 };
                    matrix[i * size + j] =
                        unit + (0..size).map(|k| entry(i, k) * entry(j, k)).sum::<f64>() / size as f64;
                }
            }
            let (mut plain, mut scratch) = (matrix.clone(), vec![f64::NAN; blocked_scratch(size)]);
            factorise(&mut plain, size).unwrap();
            factorise_blocked(&mut matrix, size, &mut scratch).unwrap();
            for i in 0..size {
                for j in 0..=i {
                    assert!((plain[i * size + j] - matrix[i * size + j]).abs() < 1e-11, "{size}: {i} {j}");
                }
            }
        }
    }

    #[test]
    fn the_row_that_fails_is_named() {
        let size = 40;
        let mut matrix: Vec<f64> =
            (0..size * size).map(|k| f64::from(u8::from(k / size == k % size))).collect();
        matrix[30 * size + 30] = -1.0;
        assert_eq!(factorise_blocked(&mut matrix, size, &mut vec![0.0; blocked_scratch(size)]), Err(30));
    }
}
