//! Eigenvalues and eigenvectors of symmetric matrices: for small ones Householder reflections to tridiagonal form, then the
//! implicit QL method with Wilkinson's shift.
//!
//! Eigenvectors are kept as *rows*, so that every rotation runs over contiguous memory.

use std::mem::MaybeUninit;

use super::large::{self, LARGEST_FOR_LOOPS};
use super::product::dot;

/// A = E diag(values) E', the columns of E are the eigenvectors.
#[derive(Debug, Clone)]
pub struct Eigen {
    /// Eigenvalues in no particular order.
    pub values: Vec<f64>,
    /// Row-major; column k belongs to value k.
    pub vectors: Vec<f64>,
}

/// Decomposes a symmetric matrix of finite numbers, row-major; only the upper triangle is read.
pub fn symmetric_eigen(matrix: &[f64], size: usize) -> Eigen {
    let mut workspace = EigenWorkspace::new(size);
    workspace.decompose(matrix);
    let vectors = (0..size * size).map(|k| workspace.rows[(k % size) * size + k / size]).collect();
    Eigen { values: workspace.values, vectors }
}

/// Memory for decompositions of one size; holds the last result.
#[derive(Debug, Clone)]
pub(crate) struct EigenWorkspace {
    size: usize,
    /// Eigenvalues in no particular order.
    pub values: Vec<f64>,
    /// Row k is the eigenvector of value k.
    pub rows: Vec<f64>,
    work: Vec<f64>,
    off: Vec<f64>,
    image: Vec<f64>,
    scratch: Vec<MaybeUninit<u8>>,
}

/// Two or three shifts per eigenvalue are usual.
const MOST_SHIFTS: usize = 60;

impl EigenWorkspace {
    pub fn new(size: usize) -> Self {
        let (small, bytes) = match size > LARGEST_FOR_LOOPS {
            true => (0, large::eigen_scratch(size)),
            false => (size, 0),
        };
        Self {
            size,
            values: vec![0.0; size],
            rows: vec![0.0; size * size],
            work: vec![0.0; small * small],
            off: vec![0.0; small],
            image: vec![0.0; small],
            scratch: vec![MaybeUninit::uninit(); bytes],
        }
    }

    /// Decomposes a symmetric matrix (its upper triangle is read); false if it did not converge, which only numbers
    /// that are not finite bring about.
    pub fn decompose(&mut self, matrix: &[f64]) -> bool {
        let size = self.size;
        if size > LARGEST_FOR_LOOPS {
            return large::decompose(matrix, &mut self.values, &mut self.rows, &mut self.scratch);
        }
        for row in 0..size {
            for column in row..size {
                let value = matrix[row * size + column];
                self.work[row * size + column] = value;
                self.work[column * size + row] = value;
            }
        }
        self.tridiagonalise();
        self.accumulate();
        (0..size).all(|start| self.shift_to_convergence(start))
    }

    /// Step k reflects rows and columns k+1.. so that row k has one entry beside the diagonal. The vector v of the
    /// reflection I - v v' (|v|^2 = 2) stays in the tail of row k.
    fn tridiagonalise(&mut self) {
        let size = self.size;
        for k in 0..size {
            self.values[k] = self.work[k * size + k];
            self.off[k] = 0.0;
            if k + 1 >= size {
                break;
            }
            let (head, trailing) = self.work.split_at_mut((k + 1) * size);
            let v = &mut head[k * size + k + 1..];
            let tail = dot(&v[1..], &v[1..]);
            if tail == 0.0 {
                self.off[k] = v[0];
                v.fill(0.0);
                continue;
            }
            let norm = (v[0] * v[0] + tail).sqrt();
            let target = if v[0] > 0.0 { -norm } else { norm };
            self.off[k] = target;
            v[0] -= target;
            let length = (2.0 / (v[0] * v[0] + tail)).sqrt();
            v.iter_mut().for_each(|value| *value *= length);
            // A <- (I - v v') A (I - v v') = A - v w' - w v' with w = A v - (v'A v / 2) v.
            let image = &mut self.image[k + 1..];
            for (value, row) in image.iter_mut().zip(trailing.chunks_exact(size)) {
                *value = dot(&row[k + 1..], v);
            }
            let half = 0.5 * dot(image, v);
            image.iter_mut().zip(v.iter()).for_each(|(value, direction)| *value -= half * direction);
            for (i, row) in trailing.chunks_exact_mut(size).enumerate() {
                let (x, y) = (v[i], image[i]);
                for ((entry, direction), other) in row[k + 1..].iter_mut().zip(v.iter()).zip(image.iter()) {
                    *entry -= x * other + y * direction;
                }
            }
        }
    }

    /// The product of the reflections, transposed, into `rows`.
    fn accumulate(&mut self) {
        let size = self.size;
        self.rows.fill(0.0);
        (0..size).for_each(|k| self.rows[k * size + k] = 1.0);
        for k in (0..size.saturating_sub(2)).rev() {
            let v = &self.work[k * size + k + 1..(k + 1) * size];
            for row in self.rows[(k + 1) * size..].chunks_exact_mut(size) {
                let tail = &mut row[k + 1..];
                let along = dot(tail, v);
                tail.iter_mut().zip(v).for_each(|(entry, direction)| *entry -= along * direction);
            }
        }
    }

    /// QL steps until the off-diagonal entry after `start` vanishes.
    fn shift_to_convergence(&mut self, start: usize) -> bool {
        for _ in 0..MOST_SHIFTS {
            let negligible = |k: usize| {
                let beside = self.values[k].abs() + self.values[k + 1].abs();
                self.off[k].abs() <= f64::EPSILON * beside
            };
            let end = (start..self.size - 1).find(|k| negligible(*k)).unwrap_or(self.size - 1);
            if end == start {
                return true;
            }
            self.step(start, end);
        }
        false
    }

    /// One implicit QL step on the block `start..=end`.
    fn step(&mut self, start: usize, end: usize) {
        let (values, off) = (&mut self.values, &mut self.off);
        let ratio = (values[start + 1] - values[start]) / (2.0 * off[start]);
        let root = (ratio * ratio + 1.0).sqrt();
        let mut lead = values[end] - values[start] + off[start] / (ratio + root.copysign(ratio));
        let (mut sine, mut cosine, mut shift) = (1.0, 1.0, 0.0);
        for k in (start..end).rev() {
            let (across, along) = (sine * off[k], cosine * off[k]);
            let length = (across * across + lead * lead).sqrt();
            off[k + 1] = length;
            if length == 0.0 {
                values[k + 1] -= shift;
                off[end] = 0.0;
                return;
            }
            (sine, cosine) = (across / length, lead / length);
            let lifted = values[k + 1] - shift;
            let turn = (values[k] - lifted) * sine + 2.0 * cosine * along;
            shift = sine * turn;
            values[k + 1] = lifted + shift;
            lead = cosine * turn - along;
            let (upper, lower) = self.rows.split_at_mut((k + 1) * self.size);
            let pair = upper[k * self.size..].iter_mut().zip(&mut lower[..self.size]);
            for (one, other) in pair {
                (*one, *other) = (cosine * *one - sine * *other, sine * *one + cosine * *other);
            }
        }
        values[start] -= shift;
        off[start] = lead;
        off[end] = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Checks A = E diag E', E'E = I.
    fn worst_error(matrix: &[f64], size: usize) -> f64 {
        let Eigen { values, vectors } = symmetric_eigen(matrix, size);
        let mut worst: f64 = 0.0;
        for i in 0..size {
            for j in 0..size {
                let back: f64 =
                    (0..size).map(|k| vectors[i * size + k] * values[k] * vectors[j * size + k]).sum();
                let unit: f64 = (0..size).map(|k| vectors[k * size + i] * vectors[k * size + j]).sum();
                worst = worst.max((back - matrix[i.min(j) * size + i.max(j)]).abs());
                worst = worst.max((unit - f64::from(u8::from(i == j))).abs());
            }
        }
        worst
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn the_parts_give_the_matrix_back(size in 1..16usize, seed in proptest::collection::vec(-3.0..3.0f64, 256)) {
            let entry = |i: usize, j: usize| seed[i.min(j) * 16 + i.max(j)];
            let matrix: Vec<f64> = (0..size * size).map(|k| entry(k / size, k % size)).collect();
            prop_assert!(worst_error(&matrix, size) < 1e-12);
        }
    }

    #[test]
    fn repeated_and_zero_eigenvalues_and_large_sizes() {
        for size in [1, 2, 3, 60] {
            let unit: Vec<f64> =
                (0..size * size).map(|k| f64::from(u8::from(k / size == k % size))).collect();
            assert!(worst_error(&unit, size) < 1e-15);
            assert!(worst_error(&vec![1.0; size * size], size) < 1e-12);
            assert!(worst_error(&vec![0.0; size * size], size) == 0.0);
        }
        let rough: Vec<f64> = (0..3600).map(|k| ((k / 60) * (k % 60) % 17) as f64).collect();
        assert!(worst_error(&rough, 60) < 1e-11);
    }

    #[test]
    fn a_matrix_that_is_not_finite_is_reported() {
        assert!(!EigenWorkspace::new(3).decompose(&[f64::NAN; 9]));
        assert!(!EigenWorkspace::new(20).decompose(&[f64::NAN; 400]));
    }
}
