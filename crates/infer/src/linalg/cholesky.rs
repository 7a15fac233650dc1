//! Cholesky factors of symmetric positive definite matrices and what is computed from them.

use super::large::{self, LARGEST_FOR_LOOPS};
use super::product::dot;
use crate::InferError;

/// Replaces A by its lower factor L, A = L L'; the upper triangle becomes zero.
///
/// Only the lower triangle is read. The row at which A turns out not to be positive definite (or not a number) is the error.
pub(crate) fn factorise(matrix: &mut [f64], size: usize) -> Result<(), usize> {
    if size > LARGEST_FOR_LOOPS {
        return large::factorise(matrix, size);
    }
    for row in 0..size {
        let (above, current) = matrix.split_at_mut(row * size);
        for column in 0..row {
            let other = &above[column * size..column * size + size];
            let rest = current[column] - dot(&current[..column], &other[..column]);
            current[column] = rest / other[column];
        }
        let rest = current[row] - dot(&current[..row], &current[..row]);
        // Written so that NaN fails too.
        if !(rest > 0.0 && rest.is_finite()) {
            return Err(row);
        }
        current[row] = rest.sqrt();
        current[row + 1..size].fill(0.0);
    }
    Ok(())
}

/// ln |A| from its factor.
pub(crate) fn log_determinant(lower: &[f64], size: usize) -> f64 {
    (0..size).map(|k| 2.0 * libm::log(lower[k * size + k])).sum()
}

/// Solves L x = b in place.
pub(crate) fn solve_lower(lower: &[f64], vector: &mut [f64]) {
    let size = vector.len();
    for row in 0..size {
        let of_row = &lower[row * size..row * size + row + 1];
        vector[row] = (vector[row] - dot(&of_row[..row], &vector[..row])) / of_row[row];
    }
}

/// Solves L' x = b in place.
pub(crate) fn solve_lower_transposed(lower: &[f64], vector: &mut [f64]) {
    let size = vector.len();
    for row in (0..size).rev() {
        let of_row = &lower[row * size..row * size + row + 1];
        let value = vector[row] / of_row[row];
        vector[row] = value;
        for (entry, factor) in vector[..row].iter_mut().zip(of_row) {
            *entry -= factor * value;
        }
    }
}

/// The inverse of a lower factor; the upper triangle of `inverse` becomes zero.
pub(crate) fn invert_lower(lower: &[f64], inverse: &mut [f64], size: usize) {
    if size > LARGEST_FOR_LOOPS {
        return large::invert_lower(lower, inverse, size);
    }
    inverse[..size * size].fill(0.0);
    for row in 0..size {
        let (above, current) = inverse.split_at_mut(row * size);
        let of_row = &lower[row * size..row * size + row + 1];
        let pivot = 1.0 / of_row[row];
        for (k, factor) in of_row[..row].iter().enumerate() {
            for (entry, other) in current[..=k].iter_mut().zip(&above[k * size..k * size + k + 1]) {
                *entry -= factor * other;
            }
        }
        current[..row].iter_mut().for_each(|entry| *entry *= pivot);
        current[row] = pivot;
    }
}

/// The lower factor L of a matrix A = L L', owned.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cholesky {
    size: usize,
    pub lower: Vec<f64>,
}

impl Cholesky {
    /// Factorises; an error if the matrix is not positive definite (or not a number).
    pub fn new(matrix: &[f64], size: usize) -> Result<Self, InferError> {
        let mut lower = matrix.to_vec();
        factorise(&mut lower, size).map_err(|row| InferError::NotPositiveDefinite { row })?;
        Ok(Self { size, lower })
    }

    /// ln |A|.
    pub fn log_determinant(&self) -> f64 {
        log_determinant(&self.lower, self.size)
    }

    /// Solves L x = b in place.
    pub fn solve_lower(&self, vector: &mut [f64]) {
        solve_lower(&self.lower, vector);
    }

    /// Solves L' x = b in place.
    pub fn solve_upper(&self, vector: &mut [f64]) {
        solve_lower_transposed(&self.lower, vector);
    }

    /// The inverse of A, row-major.
    pub fn inverse(&self) -> Vec<f64> {
        let mut inverse = vec![0.0; self.size * self.size];
        for column in 0..self.size {
            let unit = &mut inverse[column * self.size..(column + 1) * self.size];
            unit[column] = 1.0;
            self.solve_lower(unit);
            self.solve_upper(unit);
        }
        inverse
    }
}

/// The inverse of a symmetric positive definite matrix, row-major; only the lower triangle is read.
pub fn inverse(matrix: &[f64], size: usize) -> Result<Vec<f64>, InferError> {
    Cholesky::new(matrix, size).map(|cholesky| cholesky.inverse())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factor_determinant_and_inverse_of_a_known_matrix() {
        let matrix = [4.0, 2.0, 0.6, 2.0, 3.0, -0.5, 0.6, -0.5, 2.0];
        let cholesky = Cholesky::new(&matrix, 3).unwrap();
        // Determinant by the rule of Sarrus.
        let determinant: f64 = 4.0 * (3.0 * 2.0 - 0.25) - 2.0 * (2.0 * 2.0 + 0.3) + 0.6 * (-1.0 - 1.8);
        assert!((cholesky.log_determinant() - determinant.ln()).abs() < 1e-13);
        let inverse = cholesky.inverse();
        let mut of_factor = vec![0.0; 9];
        invert_lower(&cholesky.lower, &mut of_factor, 3);
        for row in 0..3 {
            for column in 0..3 {
                let unit = f64::from(u8::from(row == column));
                let product: f64 = (0..3).map(|k| matrix[3 * row + k] * inverse[3 * k + column]).sum();
                assert!((product - unit).abs() < 1e-13);
                let product: f64 =
                    (0..3).map(|k| cholesky.lower[3 * row + k] * of_factor[3 * k + column]).sum();
                assert!((product - unit).abs() < 1e-14);
            }
        }
    }

    /// The factor of a matrix is the one matrix that was squared, and its inverse undoes it: loops and kernels alike.
    #[test]
    fn factors_and_inverses_of_many_sizes() {
        for size in (1..=40).chain([231]) {
            let entry = |i: usize, j: usize| ((i * 31 + j * 17) % 23) as f64 / 23.0 - 0.4;
            let mut lower = vec![0.0; size * size];
            for row in 0..size {
                (0..row).for_each(|column| lower[row * size + column] = entry(row, column) / size as f64);
                lower[row * size + row] = 1.0 + entry(row, 2 * row);
            }
            let part = |a: &[f64], i: usize, j: usize| -> f64 {
                (0..size).map(|k| a[i * size + k] * a[j * size + k]).sum()
            };
            // Above the diagonal is rubbish: nobody may read it.
            let value = |i: usize, j: usize| if j > i { f64::NAN } else { part(&lower, i, j) };
            let mut factor: Vec<f64> = (0..size * size).map(|k| value(k / size, k % size)).collect();
            factorise(&mut factor, size).unwrap();
            factor
                .iter()
                .zip(&lower)
                .for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{size}: {a} for {b}"));
            let mut inverse = vec![f64::NAN; size * size];
            invert_lower(&lower, &mut inverse, size);
            for (i, j) in (0..size * size).map(|k| (k / size, k % size)) {
                let product: f64 = (0..size).map(|k| lower[i * size + k] * inverse[k * size + j]).sum();
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-12, "{size}");
            }
        }
    }

    #[test]
    fn what_is_not_positive_definite_is_refused() {
        assert!(Cholesky::new(&[1.0, 2.0, 2.0, 1.0], 2).is_err());
        for size in [2, 40] {
            let unit: Vec<f64> =
                (0..size * size).map(|k| f64::from(u8::from(k / size == k % size))).collect();
            let last = size * size - 1;
            for bad in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
                let mut matrix = unit.clone();
                matrix[last] = bad;
                assert_eq!(factorise(&mut matrix, size), Err(size - 1), "{bad}");
                matrix = unit.clone();
                matrix[last - 1] = f64::NAN;
                assert_eq!(factorise(&mut matrix, size), Err(size - 1));
            }
        }
    }
}
