//! Linear algebra of small matrices, row-major: clear rather than fast.

/// Solves `matrix x = right` by elimination with pivots; none if the matrix is singular.
pub fn solve(matrix: &[f64], right: &[f64]) -> Option<Vec<f64>> {
    let size = right.len();
    let (mut a, mut x) = (matrix.to_vec(), right.to_vec());
    for column in 0..size {
        let largest =
            |i: &usize, j: &usize| a[i * size + column].abs().total_cmp(&a[j * size + column].abs());
        let pivot = (column..size).max_by(largest)?;
        if a[pivot * size + column] == 0.0 || !a[pivot * size + column].is_finite() {
            return None;
        }
        (0..size).for_each(|k| a.swap(pivot * size + k, column * size + k));
        x.swap(pivot, column);
        for row in column + 1..size {
            let factor = a[row * size + column] / a[column * size + column];
            (column..size).for_each(|k| a[row * size + k] -= factor * a[column * size + k]);
            x[row] -= factor * x[column];
        }
    }
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size).map(|k| a[row * size + k] * x[k]).sum();
        x[row] = (x[row] - known) / a[row * size + row];
    }
    Some(x)
}

/// The inverse of a matrix; none if it is singular.
pub fn inverse(matrix: &[f64]) -> Option<Vec<f64>> {
    let size = matrix.len().isqrt();
    let mut out = vec![0.0; size * size];
    for column in 0..size {
        let unit: Vec<f64> = (0..size).map(|k| f64::from(u8::from(k == column))).collect();
        let solved = solve(matrix, &unit)?;
        (0..size).for_each(|row| out[row * size + column] = solved[row]);
    }
    Some(out)
}

/// The lower factor of a symmetric positive definite matrix, zeros above; none if it is not one.
pub fn cholesky(matrix: &[f64]) -> Option<Vec<f64>> {
    let size = matrix.len().isqrt();
    let mut lower = vec![0.0; size * size];
    for row in 0..size {
        for column in 0..=row {
            let inner: f64 = (0..column).map(|k| lower[row * size + k] * lower[column * size + k]).sum();
            let rest = matrix[row * size + column] - inner;
            lower[row * size + column] = match row == column {
                true if rest > 0.0 => rest.sqrt(),
                true => return None,
                false => rest / lower[column * size + column],
            };
        }
    }
    Some(lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // The first pivot is zero.
        assert_eq!(solve(&[0.0, 2.0, 1.0, 1.0], &[4.0, 5.0]).unwrap(), [3.0, 2.0]);
        assert_eq!(solve(&[1.0, 2.0, 2.0, 4.0], &[1.0, 1.0]), None);
        assert_eq!(inverse(&[2.0, 0.0, 0.0, 4.0]).unwrap(), [0.5, 0.0, 0.0, 0.25]);
        assert_eq!(cholesky(&[4.0, 2.0, 2.0, 5.0]).unwrap(), [2.0, 0.0, 1.0, 2.0]);
        assert_eq!(cholesky(&[1.0, 2.0, 2.0, 1.0]), None);
    }
}
