//! The Gram matrices of all parties together, in plain normalised units.

use crate::Evidence;
use crate::linalg::symmetric_eigen;

/// The sum of the noisy Gram matrices, made positive semi-definite.
#[derive(Debug, Clone)]
pub(crate) struct Pooled {
    /// Coordinates of a record, the response included.
    pub size: usize,
    /// Row-major, the response last.
    pub gram: Vec<f64>,
}

impl Pooled {
    /// Sums first and then projects: noise averages out before it can bias the eigenvalues.
    ///
    /// Where y'y was not released the last entry is 0 and only the block of the features is projected.
    pub fn new(evidence: &Evidence) -> Self {
        let size = evidence.dimension() + 1;
        let mut gram = vec![0.0; size * size];
        for party in &evidence.parties {
            let weights = &party.noise.weights;
            for (k, sum) in gram.iter_mut().enumerate() {
                *sum += party.gram[k] / (weights[k / size] * weights[k % size]);
            }
        }
        let whole = evidence.parties.iter().all(|party| party.noise.has_response_square());
        project(&mut gram, size, if whole { size } else { size - 1 });
        Self { size, gram }
    }

    /// Entry of the matrix.
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.gram[row * self.size + column]
    }

    /// X'X, row-major.
    pub fn features(&self) -> Vec<f64> {
        let inner = self.size - 1;
        (0..inner * inner).map(|k| self.at(k / inner, k % inner)).collect()
    }

    /// X'y.
    pub fn cross(&self) -> Vec<f64> {
        (0..self.size - 1).map(|k| self.at(k, self.size - 1)).collect()
    }
}

/// Replaces the leading block by the nearest positive semi-definite matrix.
fn project(gram: &mut [f64], size: usize, block: usize) {
    let leading: Vec<f64> = (0..block * block).map(|k| gram[k / block * size + k % block]).collect();
    let eigen = symmetric_eigen(&leading, block);
    if eigen.values.iter().all(|value| *value >= 0.0) {
        return;
    }
    for row in 0..block {
        for column in 0..block {
            gram[row * size + column] = (0..block)
                .map(|k| {
                    let vectors = (eigen.vectors[row * block + k], eigen.vectors[column * block + k]);
                    vectors.0 * eigen.values[k].max(0.0) * vectors.1
                })
                .sum();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_projection_cuts_negative_eigenvalues_only() {
        // Eigenvalues 3 and -1: the nearest positive semi-definite matrix is 3/2 in every entry.
        let mut gram = vec![1.0, 2.0, 2.0, 1.0];
        project(&mut gram, 2, 2);
        assert!(gram.iter().all(|entry| (entry - 1.5).abs() < 1e-14));
        let mut fine = vec![2.0, 1.0, 1.0, 2.0];
        project(&mut fine, 2, 2);
        assert_eq!(fine, [2.0, 1.0, 1.0, 2.0]);
        let mut partly = vec![2.0, 9.0, 9.0, 0.0];
        project(&mut partly, 2, 1);
        assert_eq!(partly, [2.0, 9.0, 9.0, 0.0]);
    }
}
