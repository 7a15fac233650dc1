//! Rough moments of a party's records, where chains start.

use super::parties::Observed;
use crate::Prior;
use crate::linalg::{EigenWorkspace, factorise};
use crate::prior::FeaturePrior;

/// Rough moments.
pub(super) struct Estimate {
    /// c; empty without a constant.
    pub mean: Vec<f64>,
    /// T, row-major.
    pub triangle: Vec<f64>,
    /// How far noise may move them, between 0 and 1, in relation to their size.
    pub spread: f64,
}

/// What the prior expects of a plain record.
pub(super) struct Expected {
    mean: Vec<f64>,
    covariance: Vec<f64>,
}

impl Expected {
    pub fn new(prior: &Prior, features: &FeaturePrior) -> Self {
        let d = features.dimension();
        let offset = prior.dimension() - d;
        let slopes = &prior.mean()[offset..];
        let usual = |row: usize, column: usize| features.scale()[row * d + column] / features.degrees();
        let cross: Vec<f64> = (0..d).map(|row| (0..d).map(|k| usual(row, k) * slopes[k]).sum()).collect();
        let (shape, rate) = prior.variance();
        let mut covariance = vec![0.0; (d + 1) * (d + 1)];
        for row in 0..d {
            (0..d).for_each(|column| covariance[row * (d + 1) + column] = usual(row, column));
            covariance[row * (d + 1) + d] = cross[row];
            covariance[d * (d + 1) + row] = cross[row];
        }
        let explained: f64 = cross.iter().zip(slopes).map(|(cross, slope)| cross * slope).sum();
        covariance[d * (d + 2)] = rate / (shape + 1.0) + explained;
        let mut mean = features.mean().to_vec();
        if offset == 1 {
            let line: f64 = mean.iter().zip(slopes).map(|(mean, slope)| mean * slope).sum();
            mean.push(prior.mean()[0] + line);
        }
        Self { mean, covariance }
    }

    /// The released sums drawn towards the prior by their noise, and made positive definite. That records were cut and scaled is
    /// ignored: this is a start, no more.
    pub fn combine(&self, party: &Observed) -> Estimate {
        let (q, n) = (self.covariance.len().isqrt(), party.latent as f64);
        let offset = usize::from(!self.mean.is_empty());
        let mean = self.shrunk_mean(party);
        let unit = |row: usize, column: usize| {
            n * (self.covariance[row * (q + 1)] * self.covariance[column * (q + 1)]).sqrt()
        };
        // In units of the prior: what the prior expects, replaced by what was released as far as noise allows.
        let mut white: Vec<f64> = (0..q * q).map(|k| n * self.covariance[k] / unit(k / q, k % q)).collect();
        let (mut spread, mut known) = (0f64, 0);
        for entry in party.entries.iter().filter(|entry| entry.row >= offset) {
            let (row, column) = (entry.row - offset, entry.column - offset);
            let level = entry.scale / unit(row, column);
            let means = if offset == 1 { n * mean[row] * mean[column] } else { 0.0 };
            let found = (entry.value - means) / unit(row, column);
            let place = row * q + column;
            white[place] += (found - white[place]) / (1.0 + level * level);
            white[column * q + row] = white[place];
            (spread, known) = (spread.max(level), known + 1);
        }
        // An entry that was not released is as open as under overwhelming noise.
        let spread = if known < q * (q + 1) / 2 { 1.0 } else { spread.min(1.0) };
        let triangle = lifted_root(&white, 0.3 * spread, q, |k| unit(k, k).sqrt());
        Estimate { mean, triangle, spread }
    }

    /// Means of the records, drawn towards the prior; empty without a constant.
    fn shrunk_mean(&self, party: &Observed) -> Vec<f64> {
        let (q, n) = (self.covariance.len().isqrt(), party.latent as f64);
        let mut mean = self.mean.clone();
        if mean.is_empty() {
            return mean;
        }
        for entry in party.entries.iter().filter(|entry| entry.row == 0 && entry.column > 0) {
            let place = entry.column - 1;
            let prior = n * n * self.covariance[place * (q + 1)];
            let noise = entry.scale * entry.scale;
            mean[place] += (entry.value / n - mean[place]) * prior / (prior + noise);
        }
        mean
    }
}

/// The lower root of a matrix whose eigenvalues are lifted to a least one, every row in its own unit.
fn lifted_root(white: &[f64], least: f64, q: usize, unit: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut eigen = EigenWorkspace::new(q);
    eigen.decompose(white);
    let largest = eigen.values.iter().fold(1.0, |largest: f64, value| largest.max(*value));
    let floor = least.max(1e-9 * largest);
    let mut lifted = vec![0.0; q * q];
    for (value, vector) in eigen.values.iter().zip(eigen.rows.chunks_exact(q)) {
        for place in 0..q * q {
            lifted[place] += value.max(floor) * vector[place / q] * vector[place % q];
        }
    }
    if factorise(&mut lifted, q).is_err() {
        lifted.fill(0.0);
        (0..q).for_each(|k| lifted[k * (q + 1)] = 1.0);
    }
    for (row, values) in lifted.chunks_exact_mut(q).enumerate() {
        values.iter_mut().for_each(|value| *value *= unit(row));
    }
    lifted
}
