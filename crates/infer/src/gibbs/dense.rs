//! The full conditional of a Gram matrix for any noise: one factorisation of size D = p(p+1)/2.
//!
//! s ~ N(n mu_t, n Sigma_t) and z | s ~ N(s, Omega) give s | z as `NormProduct` in \[BS19\] Algorithm 1. Its two inverses are not
//! needed: draw s0 from the first law and noise from the second, then s0 + n Sigma_t (n Sigma_t + Omega)^-1 (z - s0 - noise)
//! has the right mean and covariance (Matheron's rule). Entries without noise come out as they were released.

use organza_mcmc::{ChainRng, Stop};
use organza_release::Family;

use super::pool::Pool;
use super::record::RecordLaw;
use crate::linalg::{factorise, solve_lower, solve_lower_transposed};
use crate::random::{gamma, laplace_mixture_variance, normal};

/// A pool in plain units, entries in row-major order of the upper triangle.
#[derive(Debug, Clone)]
pub(super) struct DensePool {
    pub records: f64,
    /// z.
    pub released: Vec<f64>,
    /// Scale of the noise of every entry.
    pub scales: Vec<f64>,
    laplace: bool,
    exact: bool,
}

/// Rows and columns of the upper triangle, without the constant's own entry.
pub(crate) fn entries(size: usize, constant: bool) -> Vec<(usize, usize)> {
    let all = (0..size).flat_map(|row| (row..size).map(move |column| (row, column)));
    all.skip(usize::from(constant)).collect()
}

impl DensePool {
    pub fn new(pool: &Pool, entries: &[(usize, usize)]) -> Self {
        let weights = &pool.noise.weights;
        let plain = |matrix: &[f64], &(row, column): &(usize, usize)| {
            matrix[row * weights.len() + column] / (weights[row] * weights[column])
        };
        let released = entries.iter().map(|entry| plain(&pool.gram, entry)).collect();
        let widen = pool.parties.sqrt();
        let scales: Vec<f64> = entries.iter().map(|entry| widen * plain(&pool.noise.scales, entry)).collect();
        let exact = scales.iter().all(|scale| *scale == 0.0);
        let laplace = pool.noise.family == Family::Laplace;
        Self { records: pool.records(), released, scales, laplace, exact }
    }

    /// Adds released values and variances of their noise.
    pub fn add_released(&self, gram: &mut [f64], variance: &mut [f64], size: usize) {
        let constant = self.scales.len() < size * (size + 1) / 2;
        for (k, (row, column)) in entries(size, constant).into_iter().enumerate() {
            gram[row * size + column] += self.released[k];
            variance[row * size + column] += self.noise_variance(k);
        }
    }

    /// Variance of the noise of an entry.
    pub fn noise_variance(&self, entry: usize) -> f64 {
        let square = self.scales[entry] * self.scales[entry];
        if self.laplace { 2.0 * square } else { square }
    }
}

/// Memory for the draws, and the variances of noise that is a mixture.
#[derive(Debug, Clone)]
pub(super) struct DenseConditional {
    size: usize,
    entries: Vec<(usize, usize)>,
    /// Omega of every pool.
    variances: Vec<Vec<f64>>,
    matrix: Vec<f64>,
    residual: Vec<f64>,
    dual: Vec<f64>,
    image: Vec<f64>,
    latent: Vec<f64>,
}

impl DenseConditional {
    pub fn new(size: usize, constant: bool, pools: &[DensePool], rng: &mut ChainRng) -> Self {
        let entries = entries(size, constant);
        // No pool, no memory: this is the large matrix.
        let count = if pools.is_empty() { 0 } else { entries.len() };
        let mut variance = |pool: &DensePool, entry: usize| match pool.laplace {
            true => pool.noise_variance(entry) * gamma(rng, 1.0),
            false => pool.noise_variance(entry),
        };
        let variances =
            pools.iter().map(|pool| (0..count).map(|entry| variance(pool, entry)).collect()).collect();
        let square = vec![0.0; size * size];
        let matrix = vec![0.0; count * count];
        let (residual, dual, image) = (vec![0.0; count], square.clone(), square.clone());
        Self { size, entries, variances, matrix, residual, dual, image, latent: square }
    }

    /// Draws the Gram matrices of all pools given the law of a record and adds them to `total`.
    pub fn draw(
        &mut self,
        rng: &mut ChainRng,
        pools: &[DensePool],
        record: &mut RecordLaw,
        total: &mut [f64],
    ) -> Result<(), Stop> {
        for (index, pool) in pools.iter().enumerate() {
            if pool.exact {
                self.keep(pool, total);
                continue;
            }
            self.propose(rng, index, pool, record);
            self.correct(index, pool, record)?;
            self.finish(rng, index, pool, total);
        }
        Ok(())
    }

    /// s0, and z - s0 - noise.
    fn propose(&mut self, rng: &mut ChainRng, index: usize, pool: &DensePool, record: &mut RecordLaw) {
        record.fluctuate(rng, &mut self.latent);
        let root = pool.records.sqrt();
        for (value, mean) in self.latent.iter_mut().zip(record.second()) {
            *value = pool.records * mean + root * *value;
        }
        for (k, &(row, column)) in self.entries.iter().enumerate() {
            let noise = self.variances[index][k].sqrt() * normal(rng);
            self.residual[k] = pool.released[k] - self.latent[row * self.size + column] - noise;
        }
    }

    /// s0 + n Sigma_t (n Sigma_t + Omega)^-1 residual.
    fn correct(&mut self, index: usize, pool: &DensePool, record: &mut RecordLaw) -> Result<(), Stop> {
        let count = self.entries.len();
        record.covariance(pool.records, &mut self.matrix);
        for (k, variance) in self.variances[index].iter().enumerate() {
            self.matrix[k * count + k] += variance;
        }
        factorise(&mut self.matrix, count).map_err(|row| {
            let (i, j) = self.entries[row];
            Stop::numerical(format!(
                "the covariance of the released entry ({i}, {j}) is not positive definite"
            ))
        })?;
        solve_lower(&self.matrix, &mut self.residual);
        solve_lower_transposed(&self.matrix, &mut self.residual);
        for (&(row, column), value) in self.entries.iter().zip(&self.residual) {
            let share = if row == column { *value } else { 0.5 * value };
            self.dual[row * self.size + column] = share;
            self.dual[column * self.size + row] = share;
        }
        record.apply(&self.dual, &mut self.image);
        for (value, change) in self.latent.iter_mut().zip(&self.image) {
            *value += pool.records * change;
        }
        Ok(())
    }

    /// Adds the drawn matrix to the total, and draws the variances of the mixture anew.
    fn finish(&mut self, rng: &mut ChainRng, index: usize, pool: &DensePool, total: &mut [f64]) {
        let laplace = pool.laplace;
        for (k, &(row, column)) in self.entries.iter().enumerate() {
            let place = row * self.size + column;
            if pool.scales[k] == 0.0 {
                self.latent[place] = pool.released[k];
            } else if laplace {
                // [BS19] Algorithm 1, line 6
                let residual = pool.released[k] - self.latent[place];
                self.variances[index][k] = laplace_mixture_variance(rng, residual, pool.scales[k]);
            }
        }
        self.add(|conditional, _, place| conditional.latent[place], total);
    }

    /// Adds values that are known exactly.
    fn keep(&self, pool: &DensePool, total: &mut [f64]) {
        self.add(|_, k, _| pool.released[k], total);
    }

    fn add(&self, value: impl Fn(&Self, usize, usize) -> f64, total: &mut [f64]) {
        for (k, &(row, column)) in self.entries.iter().enumerate() {
            let place = row * self.size + column;
            total[place] += value(self, k, place);
            total[column * self.size + row] = total[place];
        }
    }
}
