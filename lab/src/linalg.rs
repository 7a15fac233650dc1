//! Linear algebra of small matrices, row-major: clear rather than fast.

pub use organza_studies::linalg::{cholesky, inverse, solve};

/// `x' matrix x`.
pub fn quadratic_form(matrix: &[f64], x: &[f64]) -> f64 {
    let row = |(row, left): (&[f64], &f64)| left * row.iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
    matrix.chunks_exact(x.len()).zip(x).map(row).sum()
}

/// A block of a Gram matrix with the response last: X'X, X'y and y'y.
pub fn blocks(gram: &[f64]) -> (Vec<f64>, Vec<f64>, f64) {
    let columns = gram.len().isqrt();
    let size = columns - 1;
    let inner = (0..size * size).map(|k| gram[k / size * columns + k % size]).collect();
    (inner, (0..size).map(|k| gram[k * columns + size]).collect(), gram[columns * columns - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        assert_eq!(quadratic_form(&[1.0, 2.0, 2.0, 5.0], &[1.0, -1.0]), 2.0);
        let (inner, cross, square) = blocks(&[1.0, 2.0, 3.0, 2.0, 4.0, 5.0, 3.0, 5.0, 6.0]);
        assert_eq!((inner, cross, square), (vec![1.0, 2.0, 2.0, 4.0], vec![3.0, 5.0], 6.0));
    }
}
