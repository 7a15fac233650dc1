//! Noisy Gram matrices of simulated parties, in a text file that the other side reads too.
//!
//! First line: features, parties, records. Then for every party its records, and two matrices of (features + 1)^2 numbers, the
//! response last: the noisy Gram matrix and the scales of its noise.
//!
//! Records are normal, so their Gram matrix is a Wishart matrix, drawn by its Bartlett factor: a million records cost as much
//! as a thousand.

use crate::Failure;
use crate::releases::{domain, statistic};
use organza_mcmc::ChainRng;
use organza_release::loss::gaussian_scale;
use organza_release::{Neighbours, Norm, sensitivity};
use rand::RngExt;
use rand_distr::{ChiSquared, StandardNormal};
use std::fmt::Write;

/// E |x|^2 for records in the unit ball, and the correlation of any two features.
const SQUARE: f64 = 0.25;
const CORRELATION: f64 = 0.3;
/// Residual variance, and the sd of the coefficients: those of the prior.
const RESIDUAL: f64 = 0.5 / 19.0;

/// The text of a file.
pub fn simulate(features: usize, parties: usize, records: usize, equal: bool) -> Result<String, Failure> {
    let mut rng = ChainRng::new(1, 0);
    let (domain, size) = (domain(features), features + 1);
    let statistic = statistic(&domain);
    let bound = sensitivity::of_release(&domain, &statistic, Neighbours::Substitute, Norm::L2);
    let noise = gaussian_scale(1.0, 1.0 / records as f64, bound.value)?;
    let root = record_root(features, &mut rng);
    let mut text = format!("{features} {parties} {records}\n");
    for party in 0..parties {
        let own = if equal { records / parties } else { share(records, parties, party) };
        let mut gram = wishart(&root, size, own as f64, &mut rng)?;
        let mut scales = vec![0.0; size * size];
        for &[row, column] in statistic.entries() {
            let scale = noise / statistic.entry_weight(&domain, [row, column]);
            gram[row * size + column] += scale * rng.sample::<f64, _>(StandardNormal);
            gram[column * size + row] = gram[row * size + column];
            (scales[row * size + column], scales[column * size + row]) = (scale, scale);
        }
        writeln!(text, "{own}")?;
        for matrix in [&gram, &scales] {
            for row in matrix.chunks_exact(size) {
                let words: Vec<String> = row.iter().map(|value| format!("{value:?}")).collect();
                writeln!(text, "{}", words.join(" "))?;
            }
        }
    }
    Ok(text)
}

/// Records of a party, no two of which have equally many: those that do are one to some methods of ours.
fn share(records: usize, parties: usize, party: usize) -> usize {
    let rest = if party + 1 == parties { records % parties } else { 0 };
    // The differences add up to nothing.
    records / parties + rest + 2 * party + 1 - parties
}

/// Lower factor of the covariance of a record (x, y).
fn record_root(features: usize, rng: &mut ChainRng) -> Vec<f64> {
    let size = features + 1;
    let mut root = vec![0.0; size * size];
    let variance = SQUARE / features as f64;
    let covariance = |i: usize, j: usize| variance * if i == j { 1.0 } else { CORRELATION };
    for row in 0..features {
        for column in 0..=row {
            let products = (0..column).map(|k| root[row * size + k] * root[column * size + k]);
            let rest = covariance(row, column) - products.sum::<f64>();
            root[row * size + column] =
                if row == column { rest.sqrt() } else { rest / root[column * size + column] };
        }
    }
    // y = theta'x + e: the last row is theta' times the factor of the features, and the residual sd.
    for row in 0..features {
        let theta = RESIDUAL.sqrt() * rng.sample::<f64, _>(StandardNormal);
        for column in 0..=row {
            root[features * size + column] += theta * root[row * size + column];
        }
    }
    root[size * size - 1] = RESIDUAL.sqrt();
    root
}

/// Sum of w w' over so many records w ~ N(0, root root').
fn wishart(root: &[f64], size: usize, records: f64, rng: &mut ChainRng) -> Result<Vec<f64>, Failure> {
    let mut bartlett = vec![0.0; size * size];
    for row in 0..size {
        for column in 0..row {
            bartlett[row * size + column] = rng.sample(StandardNormal);
        }
        bartlett[row * size + row] = rng.sample(ChiSquared::new(records - row as f64)?).sqrt();
    }
    let factor = product(root, &bartlett, size, |k, column| k * size + column);
    Ok(product(&factor, &factor, size, |k, column| column * size + k))
}

/// Left times right, whose entries are found by `place`.
fn product(left: &[f64], right: &[f64], size: usize, place: impl Fn(usize, usize) -> usize) -> Vec<f64> {
    let entry = |row: usize, column: usize| {
        (0..size).map(|k| left[row * size + k] * right[place(k, column)]).sum::<f64>()
    };
    (0..size * size).map(|k| entry(k / size, k % size)).collect()
}
