//! The latent records of a party given their moments, and the noisy sums given the records.
//!
//! Records are Y = 1 c' + Q T': c their mean, T T' their scatter matrix, and Q has orthonormal columns, orthogonal to 1 where
//! the mean is free. Given c and T the columns Q are uniform on all such matrices: Q = F_c L^-T with F standard normal, F_c its
//! columns less their means (F itself without a constant), L L' = F_c'F_c. Then Y = 1 c' + F_c M with M = L^-T T' upper triangular.
//!
//! Symbols: D is the slope with respect to Y, K = L^-1 F_c'D that with respect to T'.

use organza_release::{Family, RecordColumns};

use super::moments::PartyMoments;
use super::parties::Observed;
use crate::linalg::{dot, factorise, invert_lower, product};

/// Memory for one party at a time.
#[derive(Debug, Clone)]
pub(super) struct LatentSpace {
    varying: usize,
    means: Vec<f64>,
    /// L.
    factor: Vec<f64>,
    /// L^-1.
    inverse: Vec<f64>,
    /// M.
    mixture: Vec<f64>,
    /// K, and what its way back through L needs.
    pull: Vec<f64>,
    scratch: [Vec<f64>; 2],
    /// Slopes with respect to the entries of the Gram matrix of mapped records.
    gram_slopes: Vec<f64>,
    /// Sums of D.
    sums: Vec<f64>,
    records: Vec<f64>,
    mapped: Vec<f64>,
    factors: Vec<f64>,
    slopes: Vec<f64>,
}

/// Moments of the latent records of one party, and slopes to be added to.
pub(super) struct Moments<'m> {
    /// c; empty without a constant.
    pub mean: &'m [f64],
    /// T, row-major.
    pub triangle: &'m [f64],
    pub mean_slopes: &'m mut [f64],
    pub triangle_slopes: &'m mut [f64],
}

impl<'m> Moments<'m> {
    pub fn of(at: &'m mut PartyMoments) -> Self {
        let PartyMoments { mean, triangle, mean_slopes, triangle_slopes, .. } = at;
        Self { mean, triangle, mean_slopes, triangle_slopes }
    }
}

impl LatentSpace {
    /// For parties with at most this many records.
    pub fn new(varying: usize, constant: bool, records: usize) -> Self {
        let (line, square) = (vec![0.0; varying], vec![0.0; varying * varying]);
        let all = varying + usize::from(constant);
        let columns = vec![0.0; all * records];
        Self {
            varying,
            means: line.clone(),
            factor: square.clone(),
            inverse: square.clone(),
            mixture: square.clone(),
            pull: square.clone(),
            scratch: [square.clone(), square],
            gram_slopes: vec![0.0; all * all],
            sums: line,
            records: vec![0.0; varying * records],
            mapped: columns.clone(),
            factors: vec![0.0; records],
            slopes: columns,
        }
    }

    /// Log density of the noise and of F; the gradient with respect to F is written, the others are added to.
    pub fn evaluate(
        &mut self,
        party: &Observed,
        free: &[f64],
        moments: &mut Moments<'_>,
        gradient: &mut [f64],
    ) -> f64 {
        if !self.orthogonalise(free, party.latent, moments) {
            return f64::NEG_INFINITY;
        }
        self.fill_records(party, free, moments);
        let value = self.add_noise(party);
        self.pull_back(party, free, moments);
        self.write_gradient(party, free, gradient, !moments.mean.is_empty());
        value - 0.5 * dot(free, free)
    }

    /// Means of F, L and M; false if F is singular.
    fn orthogonalise(&mut self, free: &[f64], latent: usize, moments: &Moments<'_>) -> bool {
        let (q, n) = (self.varying, latent as f64);
        let column = |k: usize| &free[k * latent..(k + 1) * latent];
        self.means.fill(0.0);
        if !moments.mean.is_empty() {
            (0..q).for_each(|k| self.means[k] = sum(column(k)) / n);
        }
        for k in 0..q {
            for l in 0..=k {
                self.factor[k * q + l] = dot(column(k), column(l)) - n * self.means[k] * self.means[l];
            }
        }
        if factorise(&mut self.factor, q).is_err() {
            return false;
        }
        invert_lower(&self.factor, &mut self.inverse, q);
        for l in 0..q {
            for k in l..q {
                self.mixture[l * q + k] =
                    (l..=k).map(|m| self.inverse[m * q + l] * moments.triangle[k * q + m]).sum();
            }
        }
        true
    }

    /// The records that were counted.
    fn fill_records(&mut self, party: &Observed, free: &[f64], moments: &Moments<'_>) {
        let (q, n) = (self.varying, party.records);
        for k in 0..q {
            let shift: f64 = (0..=k).map(|l| self.means[l] * self.mixture[l * q + k]).sum();
            let target = &mut self.records[k * n..(k + 1) * n];
            target.fill(moments.mean.get(k).copied().unwrap_or(0.0) - shift);
            for l in 0..=k {
                add_multiple(self.mixture[l * q + k], &free[l * party.latent..][..n], target);
            }
        }
    }

    /// Log density of the noise; leaves D in the slopes.
    fn add_noise(&mut self, party: &Observed) -> f64 {
        let n = party.records;
        let all = self.mapped.len() / self.factors.len();
        let mut columns = RecordColumns {
            length: n,
            latent: &self.records[..self.varying * n],
            mapped: &mut self.mapped[..all * n],
            factors: &mut self.factors[..n],
            slopes: &mut self.slopes[..all * n],
        };
        party.map.apply_columns(&mut columns);
        self.gram_slopes.fill(0.0);
        let mut value = 0.0;
        for entry in &party.entries {
            let mapped = |k: usize| &columns.mapped[k * n..(k + 1) * n];
            let residual = (entry.value - dot(mapped(entry.row), mapped(entry.column))) / entry.scale;
            let (density, slope) = match party.family {
                Family::Gaussian => (-0.5 * residual * residual, residual),
                Family::Laplace => (-residual.abs(), residual.signum()),
            };
            value += density;
            // On the diagonal both factors of the product move.
            self.gram_slopes[entry.row * all + entry.column] += slope / entry.scale;
            self.gram_slopes[entry.column * all + entry.row] += slope / entry.scale;
        }
        for (k, target) in columns.slopes.chunks_exact_mut(n).enumerate() {
            target.fill(0.0);
            for (l, source) in columns.mapped.chunks_exact(n).enumerate() {
                add_multiple(self.gram_slopes[k * all + l], source, target);
            }
        }
        party.map.pull_back(&mut columns);
        value
    }

    /// Slopes with respect to c and T; leaves twice the slope with respect to F_c'F_c in the first scratch.
    fn pull_back(&mut self, party: &Observed, free: &[f64], moments: &mut Moments<'_>) {
        let (q, n) = (self.varying, party.records);
        let skip = self.mapped.len() / self.factors.len() - q;
        let cross = &mut self.scratch[0];
        cross.fill(0.0);
        for k in 0..q {
            let slopes = &self.slopes[(k + skip) * n..(k + skip + 1) * n];
            self.sums[k] = sum(slopes);
            for l in 0..=k {
                let column = &free[l * party.latent..][..n];
                cross[l * q + k] = dot(column, slopes) - self.means[l] * self.sums[k];
            }
        }
        moments.mean_slopes.iter_mut().zip(&self.sums).for_each(|(slope, sum)| *slope += sum);
        product(&self.inverse, false, cross, &mut self.pull, q);
        for k in 0..q {
            (0..=k).for_each(|m| moments.triangle_slopes[k * q + m] += self.pull[m * q + k]);
        }
        self.through_factor();
    }

    /// From K to the slope with respect to F_c'F_c, twice: that with respect to L is the lower part of -(K M')'; the lower part of
    /// L' times it, its diagonal halved, stands between L^-T and L^-1 and is made symmetric.
    fn through_factor(&mut self) {
        let q = self.varying;
        let [first, second] = &mut self.scratch;
        for a in 0..q {
            for b in 0..q {
                let slope: f64 = (a..q).map(|k| self.pull[b * q + k] * self.mixture[a * q + k]).sum();
                first[a * q + b] = if b <= a { -slope } else { 0.0 };
            }
        }
        product(&self.factor, true, first, second, q);
        for a in 0..q {
            second[a * q + a] *= 0.5;
            second[a * q + a + 1..(a + 1) * q].fill(0.0);
        }
        product(&self.inverse, true, second, first, q);
        product(first, false, &self.inverse, second, q);
        for a in 0..q {
            for b in 0..q {
                first[a * q + b] = second[a * q + b] + second[b * q + a];
            }
        }
    }

    /// The gradient with respect to F: -F + (D M')_c + 2 F_c C, C the slope with respect to F_c'F_c.
    fn write_gradient(&self, party: &Observed, free: &[f64], gradient: &mut [f64], centred: bool) {
        let (q, n, latent) = (self.varying, party.records, party.latent);
        let skip = self.mapped.len() / self.factors.len() - q;
        let twice = &self.scratch[0];
        for (l, target) in gradient.chunks_exact_mut(latent).enumerate() {
            let mut shift: f64 = -(0..q).map(|m| twice[l * q + m] * self.means[m]).sum::<f64>();
            if centred {
                let sums = (l..q).map(|k| self.mixture[l * q + k] * self.sums[k]);
                shift -= sums.sum::<f64>() / latent as f64;
            }
            target.fill(shift);
            for m in 0..q {
                let own = if m == l { 1.0 } else { 0.0 };
                add_multiple(twice[l * q + m] - own, &free[m * latent..(m + 1) * latent], target);
            }
            for k in l..q {
                let slopes = &self.slopes[(k + skip) * n..(k + skip + 1) * n];
                add_multiple(self.mixture[l * q + k], slopes, &mut target[..n]);
            }
        }
    }
}

#[cfg(test)]
impl LatentSpace {
    /// Plain and mapped records of the last evaluation, as columns of this length.
    pub fn columns(&self, records: usize) -> (&[f64], &[f64]) {
        let all = self.mapped.len() / self.factors.len();
        (&self.records[..self.varying * records], &self.mapped[..all * records])
    }
}

/// target += factor source.
fn add_multiple(factor: f64, source: &[f64], target: &mut [f64]) {
    target.iter_mut().zip(source).for_each(|(sum, value)| *sum += factor * value);
}

/// Four running sums, as in a dot product.
fn sum(values: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let chunks = values.chunks_exact(4);
    let rest: f64 = chunks.remainder().iter().sum();
    for chunk in chunks {
        (0..4).for_each(|k| sums[k] += chunk[k]);
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}
