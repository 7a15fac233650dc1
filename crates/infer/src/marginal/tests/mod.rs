//! Releases, dense references and statistics for the tests of `marginal`.

mod density;
mod posterior;
mod prior;
mod uneven;

use std::sync::Arc;

use organza_mcmc::ChainRng;
use organza_mcmc::diagnostics::{Traces, ess_mean};
use organza_release::testing::{numbered, published, unit_ball, unit_box};
use organza_release::{Domain, Family, Layout, Release, Statistic as Released, gram_entries};

use super::parties::{Block, Count, ResponseSquare};
use crate::Evidence;
use crate::linalg::{Cholesky, dot};
use crate::random::{fill_normal, normal};

/// What a party would release.
#[derive(Clone)]
pub(super) struct Mechanism {
    pub records: usize,
    /// tau in weighted units.
    pub scale: f64,
    pub response: ResponseSquare,
}

/// A ball: every coordinate varies.
pub(super) fn ball(features: usize, response_weight: f64) -> Domain {
    unit_ball(&numbered(features), response_weight)
}

/// A box with an intercept, its records not scaled.
pub(super) fn plain_box(features: usize, intercept_weight: f64, response_weight: f64) -> Domain {
    unit_box(&numbered(features), true, None, (intercept_weight, response_weight))
}

/// The release of a plain Gram matrix (row-major, response last), noise not added.
pub(super) fn release(party: &str, domain: &Domain, gram: &[f64], mechanism: &Mechanism) -> Release {
    let released = mechanism.response != ResponseSquare::Missing;
    let entries = gram_entries(domain, true, released);
    let statistic = Released::Gram { entries, layout: Layout::Isometric };
    let size = domain.dimension();
    let half_weight = domain.response_weight().powi(2) / 2.0;
    let scale = |entry: &[usize; 2]| match mechanism.response {
        ResponseSquare::Own(variance) if *entry == [size - 1; 2] => variance.sqrt() / half_weight,
        _ if *entry == [size - 1; 2] => mechanism.scale / half_weight,
        _ => mechanism.scale / statistic.entry_weight(domain, *entry),
    };
    let scales = statistic.entries().iter().map(scale).collect();
    published(party, domain, (statistic, mechanism.records as u64), gram, (Family::Gaussian, scales))
}

/// The same values with no noise on what was released.
pub(super) fn without_noise(evidence: &Evidence) -> Evidence {
    let mut quiet = evidence.clone();
    for party in &mut quiet.parties {
        let noise = Arc::make_mut(&mut party.noise);
        noise.scales.iter_mut().filter(|scale| scale.is_finite()).for_each(|scale| *scale = 0.0);
    }
    quiet
}

/// Means (with the constant, if there is one, first) and covariance of a plain record.
#[derive(Clone)]
pub(super) struct Population {
    pub mean: Vec<f64>,
    pub covariance: Vec<f64>,
}

impl Population {
    /// A random one of this many coordinates.
    pub fn random(size: usize, constant: bool, rng: &mut ChainRng) -> Self {
        let first = usize::from(constant);
        let mut root = vec![0.0; size * size];
        fill_normal(rng, &mut root);
        let entry = |row: usize, column: usize| {
            let product = dot(&root[row * size..(row + 1) * size], &root[column * size..(column + 1) * size]);
            product / size as f64 + if row == column { 0.2 } else { 0.0 }
        };
        let varies = |k: usize| k / size >= first && k % size >= first;
        let covariance =
            (0..size * size).map(|k| if varies(k) { entry(k / size, k % size) } else { 0.0 }).collect();
        let mut mean = vec![0.0; size];
        if constant {
            fill_normal(rng, &mut mean);
            mean.iter_mut().for_each(|value| *value = (0.5 * *value).clamp(-0.9, 0.9));
            mean[0] = 1.0;
        }
        Self { mean, covariance }
    }

    pub fn size(&self) -> usize {
        self.mean.len()
    }

    /// E w w'.
    pub fn moments(&self) -> Vec<f64> {
        let size = self.size();
        (0..size * size).map(|k| self.covariance[k] + self.mean[k / size] * self.mean[k % size]).collect()
    }

    /// E w_i w_j w_k w_l of a normal vector, term by term.
    pub fn fourth_moment(&self, [i, j, k, l]: [usize; 4]) -> f64 {
        let size = self.size();
        let c = |a: usize, b: usize| self.covariance[a * size + b];
        let m = |a: usize| self.mean[a];
        let none = m(i) * m(j) * m(k) * m(l);
        let one = c(i, j) * m(k) * m(l)
            + c(i, k) * m(j) * m(l)
            + c(i, l) * m(j) * m(k)
            + c(j, k) * m(i) * m(l)
            + c(j, l) * m(i) * m(k)
            + c(k, l) * m(i) * m(j);
        none + one + c(i, j) * c(k, l) + c(i, k) * c(j, l) + c(i, l) * c(j, k)
    }

    /// A record.
    pub fn draw(&self, root: &Cholesky, rng: &mut ChainRng) -> Vec<f64> {
        let size = self.size();
        let first = usize::from(self.covariance[0] == 0.0);
        let noise: Vec<f64> = (first..size).map(|_| normal(rng)).collect();
        let varying = size - first;
        let mut record = self.mean.clone();
        for row in 0..varying {
            record[row + first] += dot(&root.lower[row * varying..(row + 1) * varying], &noise);
        }
        record
    }

    /// The factor of the covariance of what varies.
    pub fn root(&self) -> Cholesky {
        let size = self.size();
        let first = usize::from(self.covariance[0] == 0.0);
        let varying = size - first;
        let entry = |k: usize| self.covariance[(k / varying + first) * size + k % varying + first];
        Cholesky::new(&(0..varying * varying).map(entry).collect::<Vec<_>>(), varying).unwrap()
    }
}

/// A block whose numbers of records are public.
pub(super) fn block(
    records: f64,
    scale: f64,
    (constant, response): (bool, ResponseSquare),
    gram: Vec<f64>,
) -> Block {
    let variance = scale * scale;
    Block { records, count: None, variance, constant, response, gram }
}

/// The same with a number that is not: it was seen with noise, in units of a guess.
pub(super) fn counted(block: Block, observed: f64, sd: f64) -> Block {
    Block { count: Some(Count { place: 0, observed, sd, most: None }), ..block }
}

/// Log density of a weighted Gram matrix as a multivariate normal of all its entries, without 2 pi, of so many times the records that are guessed.
pub(super) fn dense(block: &Block, count: f64, weights: &[f64], population: &Population) -> f64 {
    let (size, gram) = (population.size(), &block.gram);
    let missing = |i: usize, j: usize| {
        let square = i + 1 == size && j + 1 == size && block.response == ResponseSquare::Missing;
        square || block.constant && i == 0 && j == 0
    };
    let places: Vec<(usize, usize)> =
        (0..size).flat_map(|i| (i..size).map(move |j| (i, j))).filter(|&(i, j)| !missing(i, j)).collect();
    let moments = population.moments();
    let noise = |i: usize, j: usize| match block.response {
        ResponseSquare::Own(variance) if i + 1 == size && j + 1 == size => variance,
        _ if i == j => block.variance,
        _ => 0.5 * block.variance,
    };
    let mut covariance = vec![];
    for &(i, j) in &places {
        for &(k, l) in &places {
            let product = moments[i * size + j] * moments[k * size + l];
            let sampling = block.records * (population.fourth_moment([i, j, k, l]) - product);
            let own = if (i, j) == (k, l) { noise(i, j) } else { 0.0 };
            covariance.push(sampling * weights[i] * weights[j] * weights[k] * weights[l] + own);
        }
    }
    let factor = Cholesky::new(&covariance, places.len()).unwrap();
    let mut residual: Vec<f64> = places
        .iter()
        .map(|&(i, j)| {
            gram[i * size + j] - count * block.records * weights[i] * weights[j] * moments[i * size + j]
        })
        .collect();
    factor.solve_lower(&mut residual);
    let of_count = block.count.map_or(0.0, |known| (known.observed - count) / known.sd);
    -0.5 * (factor.log_determinant() + dot(&residual, &residual) + of_count * of_count)
}

/// z of the mean of draws against a known mean, with their own effective size.
pub(super) fn mean_z(traces: &Traces, mean: f64) -> f64 {
    let values = traces.values();
    let count = values.len() as f64;
    let found = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - found).powi(2)).sum::<f64>() / count;
    (found - mean) / (variance / ess_mean(traces)).sqrt()
}

/// Two-sided bound for alpha = 1e-6 over up to a thousand comparisons: P(|z| > 6.2) < 1e-9.
pub(super) const LARGEST_OF_THOUSAND: f64 = 6.2;
