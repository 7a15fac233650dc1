//! Cholesky factors of small symmetric positive definite matrices: plain loops, row-major, no allocation but the factor.

use crate::InferError;

/// The lower factor L of a matrix A = L L'.
#[derive(Debug, Clone)]
pub(crate) struct Cholesky {
    size: usize,
    lower: Vec<f64>,
}

impl Cholesky {
    /// Factorises; an error if the matrix is not positive definite (or not a number).
    pub fn new(matrix: &[f64], size: usize) -> Result<Self, InferError> {
        let mut lower = matrix.to_vec();
        for row in 0..size {
            for column in 0..=row {
                let dot: f64 = (0..column).map(|k| lower[row * size + k] * lower[column * size + k]).sum();
                let rest = matrix[row * size + column] - dot;
                lower[row * size + column] = if row == column {
                    // Written so that NaN fails too.
                    if !(rest > 0.0 && rest.is_finite()) {
                        return Err(InferError::NotPositiveDefinite { row });
                    }
                    rest.sqrt()
                } else {
                    rest / lower[column * size + column]
                };
            }
            lower[row * size + row + 1..(row + 1) * size].fill(0.0);
        }
        Ok(Self { size, lower })
    }

    /// ln |A|.
    pub fn log_determinant(&self) -> f64 {
        (0..self.size).map(|k| 2.0 * libm::log(self.lower[k * self.size + k])).sum()
    }

    /// Solves L x = b in place.
    pub fn solve_lower(&self, vector: &mut [f64]) {
        for row in 0..self.size {
            let dot: f64 = (0..row).map(|k| self.lower[row * self.size + k] * vector[k]).sum();
            vector[row] = (vector[row] - dot) / self.lower[row * self.size + row];
        }
    }

    /// Solves L' x = b in place.
    pub fn solve_upper(&self, vector: &mut [f64]) {
        for row in (0..self.size).rev() {
            let dot: f64 = (row + 1..self.size).map(|k| self.lower[k * self.size + row] * vector[k]).sum();
            vector[row] = (vector[row] - dot) / self.lower[row * self.size + row];
        }
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
        for row in 0..3 {
            for column in 0..3 {
                let product: f64 = (0..3).map(|k| matrix[3 * row + k] * inverse[3 * k + column]).sum();
                assert!((product - f64::from(u8::from(row == column))).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn what_is_not_positive_definite_is_refused() {
        assert!(Cholesky::new(&[1.0, 2.0, 2.0, 1.0], 2).is_err());
        assert!(Cholesky::new(&[1.0, f64::NAN, f64::NAN, 1.0], 2).is_err());
    }
}
