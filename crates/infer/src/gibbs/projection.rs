//! A drawn Gram matrix may not be one: the normal approximation does not know the cone. \[BS19\] section 3.4.3 projects.

use crate::linalg::{EigenWorkspace, factorise};

/// Memory for projections.
#[derive(Debug, Clone)]
pub(super) struct Projection {
    size: usize,
    constant: usize,
    eigen: EigenWorkspace,
    block: Vec<f64>,
    trial: Vec<f64>,
}

impl Projection {
    /// For matrices of `size` rows; with a constant in the first place its row is exact or a mean, and is kept.
    pub fn new(size: usize, constant: bool) -> Self {
        let constant = usize::from(constant);
        let block = size - constant;
        let square = vec![0.0; block * block];
        let eigen = EigenWorkspace::new(block);
        Self { size, constant, eigen, block: square.clone(), trial: square }
    }

    /// Makes the matrix positive semi-definite by setting negative eigenvalues to zero; says whether there were any.
    ///
    /// With a constant the matrix is valid if and only if G_rest - g g'/n is (g: sums, n: records), so that is projected: the
    /// number of records stays what it is.
    pub fn project(&mut self, gram: &mut [f64]) -> bool {
        let (size, constant, block) = (self.size, self.constant, self.size - self.constant);
        let removed = |gram: &[f64], i: usize, j: usize| match constant {
            0 => 0.0,
            _ => gram[1 + i] * gram[1 + j] / gram[0],
        };
        for i in 0..block {
            for j in 0..block {
                let place = (i + constant) * size + j + constant;
                self.block[i * block + j] = gram[place] - removed(gram, i, j);
            }
        }
        self.trial.copy_from_slice(&self.block);
        if factorise(&mut self.trial, block).is_ok() || !self.eigen.decompose(&self.block) {
            return false;
        }
        for i in 0..block {
            for j in i..block {
                let clipped: f64 = (0..block)
                    .map(|k| {
                        let row = &self.eigen.rows[k * block..(k + 1) * block];
                        self.eigen.values[k].max(0.0) * row[i] * row[j]
                    })
                    .sum();
                let value = clipped + removed(gram, i, j);
                gram[(i + constant) * size + j + constant] = value;
                gram[(j + constant) * size + i + constant] = value;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::symmetric_eigen;

    /// Catches a projection of the whole matrix where the number of records and the sums are to be kept.
    #[test]
    fn the_constant_is_kept() {
        let gram = [4.0, 2.0, -2.0, 2.0, 0.5, 1.0, -2.0, 1.0, 3.0];
        let mut found = gram;
        assert!(Projection::new(3, true).project(&mut found));
        assert_eq!(found[..3], gram[..3]);
        // G_rest - g g'/n is [[-0.5, 2], [2, 2]]; with its eigenvalue a and unit vector (x, y) only the positive part is left.
        let root = (2.5f64 * 2.5 / 4.0 + 4.0).sqrt();
        let (a, slope) = (0.75 + root, (1.25 + root) / 2.0);
        let x = 1.0 / (1.0 + slope * slope);
        let want = [1.0 + a * x, -1.0 + a * x * slope, -1.0 + a * x * slope, 1.0 + a * x * slope * slope];
        for (value, expected) in [found[4], found[5], found[7], found[8]].iter().zip(want) {
            assert!((value - expected).abs() < 1e-14, "{found:?}");
        }
        let values = symmetric_eigen(&found, 3).values;
        assert!(values.iter().all(|value| *value > -1e-14), "{values:?}");
    }

    #[test]
    fn negative_eigenvalues_become_zero_and_valid_matrices_stay() {
        let mut projection = Projection::new(2, false);
        let mut gram = [1.0, 2.0, 2.0, 1.0];
        assert!(projection.project(&mut gram));
        assert!(gram.iter().all(|value| (value - 1.5).abs() < 1e-15), "{gram:?}");
        let mut valid = [2.0, 1.0, 1.0, 2.0];
        assert!(!projection.project(&mut valid));
        assert_eq!(valid, [2.0, 1.0, 1.0, 2.0]);
    }
}
