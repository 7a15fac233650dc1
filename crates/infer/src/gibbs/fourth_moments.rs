//! Fourth moments of the features that were released beside the Gram matrix, for `gibbs-noisy`.

use std::collections::HashMap;

use organza_release::Statistic;

use crate::InferError;
use crate::judge::Accepted;
use crate::linalg::symmetric_eigen;

/// E[x_i x_j x_k x_l] of x = (1, u), u the normalised features.
///
/// Only the implied covariance of the products x_i x_j is kept. Noise may have made it impossible, so its negative eigenvalues are
/// set to zero, once; the noise itself is not modelled, as in \[BS19\] section 3.4.4.
#[derive(Debug, Clone, PartialEq)]
pub struct FourthMoments {
    /// Coordinates of x, the constant included.
    size: usize,
    /// C: covariance of the products over pairs i <= j, row-major; zeros for the constant with itself.
    pub(super) covariance: Vec<f64>,
    /// A square root of C: C = F F'.
    pub(super) factor: Vec<f64>,
    /// E[x x'], row-major, from the mean and C: positive semi-definite, too.
    pub(super) second: Vec<f64>,
    /// A square root of it.
    pub(super) second_factor: Vec<f64>,
}

/// Place of the pair (i, j) in the upper triangle of a matrix.
pub(super) fn pair(size: usize, i: usize, j: usize) -> usize {
    let (i, j) = (i.min(j), i.max(j));
    i * (2 * size - i - 1) / 2 + j
}

impl FourthMoments {
    /// From sums over all records of x_i x_j x_k x_l, one for every sorted [i, j, k, l] with 0 the constant, and the number of
    /// records. The sum for [0, 0, 0, 0] is that number and may be left out.
    pub fn new(
        coefficients: usize,
        entries: &[[usize; 4]],
        sums: &[f64],
        records: f64,
    ) -> Result<Self, InferError> {
        let fail = |reason: String| Err(InferError::Setting { field: "fourth moments", reason });
        if entries.len() != sums.len() || coefficients < 2 {
            let (found, size) = (sums.len(), entries.len());
            return fail(format!("have {found} sums for {size} entries of {coefficients} coordinates"));
        }
        if !(records >= 1.0 && records.is_finite() && sums.iter().all(|sum| sum.is_finite())) {
            return fail("must be finite sums over at least one record".into());
        }
        let normalised = |(entry, sum): (&[usize; 4], &f64)| (sorted(*entry), sum / records);
        let mut known: HashMap<[usize; 4], f64> = entries.iter().zip(sums).map(normalised).collect();
        known.insert([0; 4], 1.0);
        let pairs: Vec<[usize; 2]> =
            (0..coefficients).flat_map(|i| (i..coefficients).map(move |j| [i, j])).collect();
        let mut moments = Vec::with_capacity(pairs.len() * pairs.len());
        for [i, j] in &pairs {
            for [k, l] in &pairs {
                let entry = sorted([*i, *j, *k, *l]);
                match known.get(&entry) {
                    Some(value) => moments.push(*value),
                    None => return fail(format!("lack the entry {entry:?}")),
                }
            }
        }
        Ok(Self::from_products(coefficients, &moments))
    }

    /// Those of all parties together.
    pub(crate) fn of(evidence: Accepted<'_>) -> Result<Self, InferError> {
        let (mut entries, mut sums, mut records) = (Vec::new(), Vec::new(), 0.0);
        for release in &evidence.fourths {
            let Statistic::FourthMoments { entries: own } = &release.statistic else { continue };
            if entries.is_empty() {
                (entries, sums) = (own.clone(), vec![0.0; own.len()]);
            }
            sums.iter_mut().zip(&release.value).for_each(|(sum, value)| *sum += value);
            records += release.records.unwrap_or(0) as f64;
        }
        Self::new(evidence.dimension(), &entries, &sums, records)
    }

    /// From E[x_i x_j x_k x_l] over pairs of pairs. The constant makes row 0 the second moments.
    fn from_products(size: usize, moments: &[f64]) -> Self {
        let pairs = size * (size + 1) / 2;
        let raw: Vec<f64> = (0..pairs * pairs)
            .map(|place| moments[place] - moments[place / pairs] * moments[place % pairs])
            .collect();
        let (mut covariance, mut factor) = clip(&raw, pairs);
        // The constant does not vary; rounding in the eigenvectors must not say otherwise.
        (0..pairs).for_each(|k| {
            (covariance[k], covariance[k * pairs], factor[k]) = (0.0, 0.0, 0.0);
        });
        // x_i is the product of the constant and x_i.
        let second: Vec<f64> = (0..size * size)
            .map(|place| {
                let (i, j) = (place / size, place % size);
                moments[i] * moments[j] + covariance[i * pairs + j]
            })
            .collect();
        let (second, second_factor) = clip(&second, size);
        Self { size, covariance, factor, second, second_factor }
    }

    /// Coordinates of x: the number of coefficients, the intercept included.
    pub fn dimension(&self) -> usize {
        self.size
    }

    /// Variance of x'theta.
    pub(super) fn explained(&self, theta: &[f64]) -> f64 {
        let pairs = self.size * (self.size + 1) / 2;
        let row = |i: usize| &self.covariance[i * pairs..i * pairs + self.size];
        (1..self.size).map(|i| theta[i] * crate::linalg::dot(row(i), theta)).sum()
    }
}

fn sorted(mut entry: [usize; 4]) -> [usize; 4] {
    entry.sort_unstable();
    entry
}

/// The nearest positive semi-definite matrix, and a square root of it.
fn clip(matrix: &[f64], size: usize) -> (Vec<f64>, Vec<f64>) {
    let eigen = symmetric_eigen(matrix, size);
    let root = |k: usize| eigen.values[k % size].max(0.0).sqrt() * eigen.vectors[k];
    let factor: Vec<f64> = (0..size * size).map(root).collect();
    let mut clipped = matrix.to_vec();
    if eigen.values.iter().any(|value| *value < 0.0) {
        crate::linalg::multiply_by_transpose(&factor, &factor, &mut clipped, size);
    }
    (clipped, factor)
}
