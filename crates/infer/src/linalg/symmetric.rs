//! Products around symmetric matrices, at any size.

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, MatMut, MatRef, Par};

use super::large::{LARGEST_FOR_LOOPS, view, view_mut};
use super::product::{congruence, dot, multiply, symmetrise, transpose_multiply};

/// out = T A T' for a symmetric A, exactly symmetric; `scratch` has the size of a matrix.
pub(crate) fn rotate(t: &[f64], a: &[f64], out: &mut [f64], scratch: &mut [f64], size: usize) {
    if size <= LARGEST_FOR_LOOPS {
        return congruence(t, a, out, scratch, size);
    }
    let (t, a) = (view(t, size), view(a, size));
    // With a symmetric A, (A T')' = T A: its rows are what the second product wants.
    matmul(view_mut(scratch, size), Accum::Replace, t, a, 1.0, Par::Seq);
    upper_product(view_mut(out, size), Accum::Replace, (view(scratch, size), t.transpose()), 1.0);
    symmetrise(out, size);
}

/// out = T' A T for a symmetric A; `scratch` has the size of a matrix.
pub(crate) fn rotate_back(t: &[f64], a: &[f64], out: &mut [f64], scratch: &mut [f64], size: usize) {
    if size <= LARGEST_FOR_LOOPS {
        multiply(a, t, scratch, size);
        return transpose_multiply(t, scratch, out, size);
    }
    let (t, a) = (view(t, size), view(a, size));
    matmul(view_mut(scratch, size), Accum::Replace, a, t, 1.0, Par::Seq);
    upper_product(view_mut(out, size), Accum::Replace, (t.transpose(), view(scratch, size)), 1.0);
    symmetrise(out, size);
}

/// Adds factor A A' to the upper triangle of `out`; what is below it means nothing afterwards.
pub(crate) fn add_square(factor: f64, a: &[f64], out: &mut [f64], size: usize) {
    if size <= LARGEST_FOR_LOOPS {
        for row in 0..size {
            let left = &a[row * size..(row + 1) * size];
            for column in row..size {
                out[row * size + column] += factor * dot(left, &a[column * size..(column + 1) * size]);
            }
        }
        return;
    }
    let a = view(a, size);
    upper_product(view_mut(out, size), Accum::Add, (a, a.transpose()), factor);
}

/// out = A B, or A' B, at any size.
pub(crate) fn product(a: &[f64], transposed: bool, b: &[f64], out: &mut [f64], size: usize) {
    if size > LARGEST_FOR_LOOPS {
        let left = if transposed { view(a, size).transpose() } else { view(a, size) };
        return matmul(view_mut(out, size), Accum::Replace, left, view(b, size), 1.0, Par::Seq);
    }
    match (size, transposed) {
        (0, _) => (),
        (_, true) => transpose_multiply(a, b, out, size),
        (_, false) => multiply(a, b, out, size),
    }
}

/// The upper triangle of a product.
fn upper_product(
    out: MatMut<'_, f64>,
    accumulate: Accum,
    (left, right): (MatRef<'_, f64>, MatRef<'_, f64>),
    factor: f64,
) {
    let all = BlockStructure::Rectangular;
    triangular::matmul(
        out,
        BlockStructure::TriangularUpper,
        accumulate,
        left,
        all,
        right,
        all,
        factor,
        Par::Seq,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a transposed factor, a triangle on the wrong side, and a size at which loops and kernels disagree.
    #[test]
    fn products_agree_with_their_definitions_at_small_and_large_sizes() {
        for size in [1, 3, LARGEST_FOR_LOOPS, LARGEST_FOR_LOOPS + 1, 41] {
            let number = |k: usize| ((k * 7919 + 13) % 101) as f64 / 50.0 - 1.0;
            let t: Vec<f64> = (0..size * size).map(number).collect();
            let mut a: Vec<f64> = (0..size * size).map(|k| number(k + 17)).collect();
            symmetrise(&mut a, size);
            let sum = |f: &dyn Fn(usize, usize) -> f64| -> f64 {
                (0..size * size).map(|k| f(k / size, k % size)).sum()
            };
            let (mut scratch, mut forth, mut back) = (a.clone(), a.clone(), a.clone());
            rotate(&t, &a, &mut forth, &mut scratch, size);
            rotate_back(&t, &a, &mut back, &mut scratch, size);
            let mut square = vec![1.0; size * size];
            add_square(-0.5, &t, &mut square, size);
            let (mut plain, mut transposed) = (a.clone(), a.clone());
            product(&t, false, &a, &mut plain, size);
            product(&t, true, &a, &mut transposed, size);
            for row in 0..size {
                for column in row..size {
                    let place = row * size + column;
                    let close =
                        |found: f64, expected: f64| assert!((found - expected).abs() < 1e-11, "{size}");
                    close(
                        forth[place],
                        sum(&|k, l| t[row * size + k] * a[k * size + l] * t[column * size + l]),
                    );
                    close(
                        back[place],
                        sum(&|k, l| t[k * size + row] * a[k * size + l] * t[l * size + column]),
                    );
                    let inner = |left: &dyn Fn(usize) -> f64, right: &dyn Fn(usize) -> f64| -> f64 {
                        (0..size).map(|k| left(k) * right(k)).sum()
                    };
                    let of_rows = inner(&|k| t[row * size + k], &|k| t[column * size + k]);
                    close(square[place], 1.0 - 0.5 * of_rows);
                    close(plain[place], inner(&|k| t[row * size + k], &|k| a[k * size + column]));
                    close(transposed[place], inner(&|k| t[k * size + row], &|k| a[k * size + column]));
                }
            }
        }
    }
}
