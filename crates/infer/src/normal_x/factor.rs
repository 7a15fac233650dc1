//! Products of triangular matrices that the model needs; all row-major, lower triangles.

use crate::linalg::dot;

/// out = A B for lower triangular A and B; the upper triangle of `out` is left alone.
pub(super) fn multiply_lower(a: &[f64], b: &[f64], out: &mut [f64], size: usize) {
    for row in 0..size {
        let target = &mut out[row * size..row * size + row + 1];
        target.fill(0.0);
        for (k, factor) in a[row * size..row * size + row + 1].iter().enumerate() {
            let other = &b[k * size..k * size + k + 1];
            target.iter_mut().zip(other).for_each(|(sum, value)| *sum += factor * value);
        }
    }
}

/// out = L L', both triangles.
pub(super) fn square_lower(lower: &[f64], out: &mut [f64], size: usize) {
    for row in 0..size {
        for column in 0..=row {
            let value = dot(
                &lower[row * size..row * size + column + 1],
                &lower[column * size..column * size + column + 1],
            );
            out[row * size + column] = value;
            out[column * size + row] = value;
        }
    }
}

/// Sum of the squares of a lower triangle.
pub(super) fn squared_norm(lower: &[f64], size: usize) -> f64 {
    (0..size)
        .map(|row| dot(&lower[row * size..row * size + row + 1], &lower[row * size..row * size + row + 1]))
        .sum()
}

/// Sum of the products of two symmetric matrices, from their lower triangles.
pub(super) fn inner_product(a: &[f64], b: &[f64], size: usize) -> f64 {
    let mut sum = 0.0;
    for row in 0..size {
        let line = row * size..row * size + row;
        sum += 2.0 * dot(&a[line.clone()], &b[line]) + a[row * size + row] * b[row * size + row];
    }
    sum
}

/// target += factors[0] rows[0] + .. + factors[3] rows[3]: four rows in one pass over the target.
#[inline]
fn add_rows(target: &mut [f64], factors: [f64; 4], rows: [&[f64]; 4]) {
    let count = target.len();
    let [a, b, c, d] = rows.map(|row| &row[..count]);
    for (k, value) in target.iter_mut().enumerate() {
        *value += (factors[0] * a[k] + factors[1] * b[k]) + (factors[2] * c[k] + factors[3] * d[k]);
    }
}

/// Four rows of a block.
#[inline]
fn four(block: &[f64], size: usize) -> [&[f64]; 4] {
    [0, 1, 2, 3].map(|k| &block[k * size..(k + 1) * size])
}

/// Solves L X = B in place for all columns of B.
pub(super) fn solve_lower_columns(lower: &[f64], matrix: &mut [f64], size: usize) {
    for row in 0..size {
        let (above, current) = matrix.split_at_mut(row * size);
        let current = &mut current[..size];
        let (known, pivot) = (&lower[row * size..row * size + row], 1.0 / lower[row * size + row]);
        let (blocks, factors) = (above.chunks_exact(4 * size), known.chunks_exact(4));
        for (other, factor) in blocks.remainder().chunks_exact(size).zip(factors.remainder()) {
            current.iter_mut().zip(other).for_each(|(value, known)| *value -= factor * known);
        }
        for (block, factor) in blocks.zip(factors) {
            add_rows(current, [-factor[0], -factor[1], -factor[2], -factor[3]], four(block, size));
        }
        current.iter_mut().for_each(|value| *value *= pivot);
    }
}

/// Lower triangle of `out` += X'X.
pub(super) fn add_gram(matrix: &[f64], out: &mut [f64], size: usize) {
    let blocks = matrix.chunks_exact(4 * size);
    for row in blocks.remainder().chunks_exact(size) {
        for (k, factor) in row.iter().enumerate() {
            let target = &mut out[k * size..k * size + k + 1];
            target.iter_mut().zip(row).for_each(|(sum, value)| *sum += factor * value);
        }
    }
    for block in blocks {
        let rows = four(block, size);
        for k in 0..size {
            add_rows(&mut out[k * size..k * size + k + 1], rows.map(|row| row[k]), rows);
        }
    }
}

/// Lower triangle of `out` = L'L for a lower triangular L; the rest of `out` becomes zero.
pub(super) fn transposed_product(lower: &[f64], out: &mut [f64], size: usize) {
    out.fill(0.0);
    for (k, row) in lower.chunks_exact(size).enumerate() {
        for (i, factor) in row[..=k].iter().enumerate() {
            let target = &mut out[i * size..i * size + i + 1];
            target.iter_mut().zip(row).for_each(|(sum, value)| *sum += factor * value);
        }
    }
}

/// Copies the lower triangle onto the upper one.
pub(super) fn mirror_lower(matrix: &mut [f64], size: usize) {
    for row in 0..size {
        (0..row).for_each(|column| matrix[column * size + row] = matrix[row * size + column]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{multiply, multiply_by_transpose, transpose_multiply};

    #[test]
    fn products_agree_with_the_general_ones() {
        for size in [1, 2, 5, 6] {
            let entry = |k: usize, by: usize| ((k * by) % 11) as f64 - 4.5;
            let lower = |by: usize| -> Vec<f64> {
                let keep = |k: usize| if k % size <= k / size { entry(k, by) } else { 0.0 };
                (0..size * size).map(keep).collect()
            };
            let (a, b) = (lower(7), lower(5));
            let (mut out, mut expected) = (vec![0.0; size * size], vec![0.0; size * size]);
            multiply_lower(&a, &b, &mut out, size);
            multiply(&a, &b, &mut expected, size);
            assert_eq!(out, expected);
            square_lower(&a, &mut out, size);
            multiply_by_transpose(&a, &a, &mut expected, size);
            assert_eq!(out, expected);
            transposed_product(&a, &mut out, size);
            mirror_lower(&mut out, size);
            transpose_multiply(&a, &a, &mut expected, size);
            assert_eq!(out, expected);
            square_lower(&a, &mut out, size);
            assert_eq!(squared_norm(&a, size), a.iter().map(|x| x * x).sum::<f64>());
            let mut other = vec![0.0; size * size];
            square_lower(&b, &mut other, size);
            let full: f64 = out.iter().zip(&other).map(|(x, y)| x * y).sum();
            assert_eq!(inner_product(&out, &other, size), full);
            let full: Vec<f64> = (0..size * size).map(|k| entry(k, 3)).collect();
            let mut solved = full.clone();
            solve_lower_columns(&a, &mut solved, size);
            multiply(&a, &solved, &mut expected, size);
            assert!(expected.iter().zip(&full).all(|(x, y)| (x - y).abs() < 1e-6), "{expected:?}");
            out.fill(0.0);
            add_gram(&full, &mut out, size);
            transpose_multiply(&full, &full, &mut expected, size);
            assert!((0..size * size).filter(|k| k % size <= k / size).all(|k| out[k] == expected[k]));
        }
    }
}
