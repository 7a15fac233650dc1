//! Cholesky factors of symmetric positive definite matrices and what is computed from them.

use super::product::dot;
use crate::InferError;

/// Replaces A by its lower factor L, A = L L'; the upper triangle becomes zero.
///
/// Only the lower triangle is read. The row at which A turns out not to be positive definite (or not a number) is the error.
pub(crate) fn factorise(matrix: &mut [f64], size: usize) -> Result<(), usize> {
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

    #[test]
    fn what_is_not_positive_definite_is_refused() {
        assert!(Cholesky::new(&[1.0, 2.0, 2.0, 1.0], 2).is_err());
        assert!(Cholesky::new(&[1.0, f64::NAN, f64::NAN, 1.0], 2).is_err());
    }
}
