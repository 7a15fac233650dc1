//! The mean of normal records with known covariance: the 10-dimensional model of \[RKH21\] section 4.
//!
//! With the precision P and y = P x, which is computed once for each record, the gradient of a record is y - P theta and its log ratio
//! (theta' - theta)' y - (theta' P theta' - theta P theta) / 2: no product of a matrix with a record remains.

use organza_mcmc::ChainRng;
use pulp::Simd;
use rand::RngExt;
use rand_distr::StandardNormal;

use super::normal_prior::NormalPrior;
use crate::CuratorError;
use crate::chains::gradient_sum::GradientSum;
use crate::chains::model::{RecordModel, Simulate};
use crate::chains::records::{Block, Gradients};

/// Numbers in a register, or in several.
const LANES: usize = 4;

/// x ~ N(theta, Sigma) with a normal prior of theta.
#[derive(Debug, Clone, PartialEq)]
pub struct GaussianMean {
    dimension: usize,
    /// Lower triangle with Sigma = L L', row after row.
    factor: Vec<f64>,
    precision: Vec<f64>,
    /// Its columns, each filled up with zeros to whole registers: products with theta are needed for every block.
    columns: Vec<f64>,
    prior: NormalPrior,
}

impl GaussianMean {
    /// The model with this covariance, row after row, and the prior N(0, `prior_sd`^2 I).
    pub fn new(covariance: &[f64], prior_sd: f64) -> Result<Self, CuratorError> {
        let dimension = covariance.len().isqrt();
        let refuse =
            || CuratorError::setting("gaussian_mean.covariance", "must be a positive definite square matrix");
        if dimension == 0 || dimension * dimension != covariance.len() {
            return Err(refuse());
        }
        let factor = cholesky(covariance, dimension).ok_or_else(refuse)?;
        let mut precision = vec![0.0; covariance.len()];
        for (column, row) in precision.chunks_exact_mut(dimension).enumerate() {
            row[column] = 1.0;
            solve(&factor, dimension, row);
        }
        let stride = dimension.next_multiple_of(LANES);
        let mut columns = vec![0.0; dimension * stride];
        for (place, value) in precision.iter().enumerate() {
            columns[place % dimension * stride + place / dimension] = *value;
        }
        let prior = NormalPrior::new(vec![0.0; dimension], vec![prior_sd; dimension]);
        Ok(Self { dimension, factor, precision, columns, prior })
    }

    /// Sigma^-1, row after row.
    pub fn precision(&self) -> &[f64] {
        &self.precision
    }

    #[inline(always)]
    fn weighted(&self, theta: &[f64], row: usize) -> f64 {
        let row = &self.precision[row * self.dimension..][..self.dimension];
        row.iter().zip(theta).map(|(precision, theta)| precision * theta).sum()
    }

    /// A few coordinates of P theta, from `first` on.
    #[inline(always)]
    fn shifts(&self, theta: &[f64], first: usize) -> [f64; LANES] {
        let mut shifts = [0.0; LANES];
        let stride = self.dimension.next_multiple_of(LANES);
        for (column, theta) in self.columns.chunks_exact(stride).zip(theta) {
            for (shift, precision) in shifts.iter_mut().zip(&column[first..first + LANES]) {
                *shift += precision * theta;
            }
        }
        shifts
    }

    /// (to' P to - from' P from) / 2, the product of P (from + to) / 2 with the difference.
    #[inline(always)]
    fn half_difference(&self, from: &[f64], to: &[f64]) -> f64 {
        let stride = self.dimension.next_multiple_of(LANES);
        let mut product = 0.0;
        for first in (0..self.dimension).step_by(LANES) {
            let mut middles = [0.0; LANES];
            for ((column, from), to) in self.columns.chunks_exact(stride).zip(from).zip(to) {
                let middle = 0.5 * (from + to);
                for (sum, precision) in middles.iter_mut().zip(&column[first..first + LANES]) {
                    *sum += precision * middle;
                }
            }
            let differences = from[first..].iter().zip(&to[first..]);
            for (middle, (from, to)) in middles.iter().zip(differences) {
                product += middle * (to - from);
            }
        }
        product
    }

    /// theta' P theta / 2.
    #[inline(always)]
    fn half_square(&self, theta: &[f64]) -> f64 {
        0.5 * theta.iter().enumerate().map(|(row, value)| value * self.weighted(theta, row)).sum::<f64>()
    }
}

impl RecordModel for GaussianMean {
    fn parameters(&self) -> Vec<String> {
        (1..=self.dimension).map(|index| format!("mean[{index}]")).collect()
    }

    fn columns(&self) -> usize {
        self.dimension
    }

    fn log_prior(&self, theta: &[f64]) -> f64 {
        self.prior.log_density(theta)
    }

    fn add_prior_gradient(&self, theta: &[f64], gradient: &mut [f64]) {
        self.prior.add_gradient(theta, gradient);
    }

    #[inline(always)]
    fn log_likelihood(&self, theta: &[f64], block: Block<'_>, values: &mut [f64]) {
        values.fill(-self.half_square(theta));
        for (index, weight) in theta.iter().enumerate() {
            for (value, y) in values.iter_mut().zip(block.column(index)) {
                *value += weight * y;
            }
        }
    }

    #[inline(always)]
    fn log_ratio(
        &self,
        (from, to): (&[f64], &[f64]),
        block: Block<'_>,
        values: &mut [f64],
        _spare: &mut [f64],
    ) {
        values.fill(-self.half_difference(from, to));
        for (index, (from, to)) in from.iter().zip(to).enumerate() {
            let weight = to - from;
            for (value, y) in values.iter_mut().zip(block.column(index)) {
                *value += weight * y;
            }
        }
    }

    #[inline(always)]
    fn gradient(&self, theta: &[f64], block: Block<'_>, mut gradients: Gradients<'_>) {
        for first in (0..self.dimension).step_by(LANES) {
            for (index, shift) in (first..self.dimension).zip(self.shifts(theta, first)) {
                for (gradient, y) in gradients.coordinate(index).iter_mut().zip(block.column(index)) {
                    *gradient = y - shift;
                }
            }
        }
    }

    #[inline(always)]
    fn add_gradients<S: Simd>(&self, theta: &[f64], sum: GradientSum<'_, S>) {
        sum.add_shifted(
            #[inline(always)]
            |shifts| {
                for (first, shifts) in shifts.chunks_mut(LANES).enumerate() {
                    shifts.copy_from_slice(&self.shifts(theta, first * LANES)[..shifts.len()]);
                }
            },
        );
    }

    fn prepare(&self, record: &mut [f64]) {
        solve(&self.factor, self.dimension, record);
    }
}

impl Simulate for GaussianMean {
    fn draw_parameters(&self, rng: &mut ChainRng, theta: &mut [f64]) {
        theta.iter_mut().for_each(|theta| *theta = rng.sample(StandardNormal));
    }

    fn draw_record(&self, theta: &[f64], rng: &mut ChainRng, record: &mut [f64]) {
        record.copy_from_slice(theta);
        for column in 0..self.dimension {
            let z: f64 = rng.sample(StandardNormal);
            for (row, value) in record.iter_mut().enumerate().skip(column) {
                *value += self.factor[row * self.dimension + column] * z;
            }
        }
    }
}

/// The lower triangle L with L L' = matrix; none unless the matrix is positive definite.
fn cholesky(matrix: &[f64], dimension: usize) -> Option<Vec<f64>> {
    let mut factor = vec![0.0; matrix.len()];
    for row in 0..dimension {
        for column in 0..=row {
            let (left, right) = (row * dimension, column * dimension);
            let products = (0..column).map(|k| factor[left + k] * factor[right + k]);
            let rest = matrix[left + column] - products.sum::<f64>();
            factor[left + column] = if row > column {
                rest / factor[right + column]
            } else {
                (rest > 0.0 && rest.is_finite()).then(|| rest.sqrt())?
            };
        }
    }
    Some(factor)
}

/// Replaces b by the solution of L L' x = b.
fn solve(factor: &[f64], dimension: usize, b: &mut [f64]) {
    for row in 0..dimension {
        let known = (0..row).map(|k| factor[row * dimension + k] * b[k]).sum::<f64>();
        b[row] = (b[row] - known) / factor[row * dimension + row];
    }
    for row in (0..dimension).rev() {
        let known = (row + 1..dimension).map(|k| factor[k * dimension + row] * b[k]).sum::<f64>();
        b[row] = (b[row] - known) / factor[row * dimension + row];
    }
}
