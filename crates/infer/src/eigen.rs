//! Eigenvalues and eigenvectors of small symmetric matrices by cyclic Jacobi rotations.
//!
//! Jacobi's method is slower than tridiagonalisation but accurate to the last digits also for small eigenvalues; every matrix
//! is decomposed once per fit, not once per step.

/// A = E diag(values) E', the columns of E are the eigenvectors.
#[derive(Debug, Clone)]
pub struct Eigen {
    /// Eigenvalues in no particular order.
    pub values: Vec<f64>,
    /// Row-major; column k belongs to value k.
    pub vectors: Vec<f64>,
}

/// More than enough: convergence is quadratic, about eight sweeps are seen for a hundred dimensions.
const MOST_SWEEPS: usize = 60;

/// Decomposes a symmetric matrix of finite numbers, row-major; only the upper triangle is read.
pub fn symmetric_eigen(matrix: &[f64], size: usize) -> Eigen {
    let mut a = matrix.to_vec();
    for row in 0..size {
        for column in 0..row {
            a[row * size + column] = a[column * size + row];
        }
    }
    let mut vectors = vec![0.0; size * size];
    (0..size).for_each(|k| vectors[k * size + k] = 1.0);
    for _ in 0..MOST_SWEEPS {
        if !sweep(&mut a, &mut vectors, size) {
            break;
        }
    }
    Eigen { values: (0..size).map(|k| a[k * size + k]).collect(), vectors }
}

/// Rotates every pair once; returns whether anything was left to rotate.
fn sweep(a: &mut [f64], vectors: &mut [f64], size: usize) -> bool {
    let mut rotated = false;
    for p in 0..size {
        for q in p + 1..size {
            let (off, diagonal) = (a[p * size + q], (a[p * size + p], a[q * size + q]));
            if off.abs() <= 1e-17 * (diagonal.0.abs() * diagonal.1.abs()).sqrt() || off == 0.0 {
                continue;
            }
            rotated = true;
            let ratio = (diagonal.1 - diagonal.0) / (2.0 * off);
            let tangent = ratio.signum() / (ratio.abs() + (1.0 + ratio * ratio).sqrt());
            let tangent = if ratio == 0.0 { 1.0 } else { tangent };
            let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
            rotate(a, vectors, (p, q, size), (cosine, tangent * cosine));
        }
    }
    rotated
}

/// Applies one rotation to rows and columns p and q.
fn rotate(
    a: &mut [f64],
    vectors: &mut [f64],
    (p, q, size): (usize, usize, usize),
    (cosine, sine): (f64, f64),
) {
    for k in 0..size {
        let (x, y) = (a[k * size + p], a[k * size + q]);
        (a[k * size + p], a[k * size + q]) = (cosine * x - sine * y, sine * x + cosine * y);
    }
    for k in 0..size {
        let (x, y) = (a[p * size + k], a[q * size + k]);
        (a[p * size + k], a[q * size + k]) = (cosine * x - sine * y, sine * x + cosine * y);
        let (x, y) = (vectors[k * size + p], vectors[k * size + q]);
        (vectors[k * size + p], vectors[k * size + q]) = (cosine * x - sine * y, sine * x + cosine * y);
    }
    (a[p * size + q], a[q * size + p]) = (0.0, 0.0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn the_parts_give_the_matrix_back(size in 1..12usize, seed in proptest::collection::vec(-3.0..3.0f64, 144)) {
            let entry = |i: usize, j: usize| seed[i.min(j) * 12 + i.max(j)];
            let matrix: Vec<f64> = (0..size * size).map(|k| entry(k / size, k % size)).collect();
            let Eigen { values, vectors } = symmetric_eigen(&matrix, size);
            for i in 0..size {
                for j in 0..size {
                    let back: f64 = (0..size).map(|k| vectors[i * size + k] * values[k] * vectors[j * size + k]).sum();
                    let unit: f64 = (0..size).map(|k| vectors[k * size + i] * vectors[k * size + j]).sum();
                    prop_assert!((back - entry(i, j)).abs() < 1e-12);
                    prop_assert!((unit - f64::from(u8::from(i == j))).abs() < 1e-12);
                }
            }
        }
    }
}
