//! A positive definite estimate of every party's X'X: where chains start and what their coordinates are relative to.
//!
//! It is no part of the model: any positive definite matrix gives the same posterior, a good one makes it easy to sample.

use super::factor::{multiply_lower, solve_lower_columns};
use super::observed::Observed;
use crate::linalg::{EigenWorkspace, factorise};

/// Eigenvalues of an estimate, relative to what is expected of the party, are kept in this interval.
const RELATIVE: (f64, f64) = (0.1, 10.0);

/// Fills in estimates and spreads of all parties; `bound` is the largest square of a coordinate of a record.
pub(super) fn fill(parties: &mut [Observed], scale: &[f64], degrees: f64, (constant, bound): (usize, f64)) {
    let size = scale.len().isqrt();
    let varying = size - constant;
    let records: f64 = parties.iter().map(|party| party.records).sum();
    let mut pooled = vec![0.0; varying * varying];
    for party in parties.iter() {
        let (_, scatter) = centred(party, constant);
        pooled.iter_mut().zip(scatter).for_each(|(sum, value)| *sum += value);
    }
    clip_eigenvalues(&mut pooled, varying, (0.0, bound * records));
    for (k, value) in pooled.iter_mut().enumerate() {
        *value = (*value + scale[(k / varying + constant) * size + k % varying + constant]) / degrees;
    }
    for party in parties {
        fill_estimate(party, &pooled, constant);
        fill_spread(party, degrees, constant);
    }
}

/// Mean and centred scatter of a party's features from its noisy sums: nothing and S-hat itself without a constant.
fn centred(party: &Observed, constant: usize) -> (Vec<f64>, Vec<f64>) {
    let size = party.cross.len();
    let varying = size - constant;
    let at = |row: usize, column: usize| party.gram[(row + constant) * size + column + constant];
    let mean: Vec<f64> = (0..varying * constant)
        .map(|k| (party.gram[(k + 1) * size] / party.records).clamp(-1.0, 1.0))
        .collect();
    let square = |row: usize, column: usize| match constant {
        0 => 0.0,
        _ => party.records * mean[row] * mean[column],
    };
    let entry = |k: usize| at(k / varying, k % varying) - square(k / varying, k % varying);
    let scatter = (0..varying * varying).map(entry).collect();
    (mean, scatter)
}

/// The noisy scatter, shrunk towards what the pooled covariance makes us expect and pushed inside the cone.
fn fill_estimate(party: &mut Observed, covariance: &[f64], constant: usize) {
    let size = party.cross.len();
    let varying = size - constant;
    let (mean, mut scatter) = centred(party, constant);
    let expected: Vec<f64> = covariance.iter().map(|value| party.records * value).collect();
    for row in 0..varying {
        for column in 0..varying {
            let k = row * varying + column;
            let diagonal = expected[row * varying + row] * expected[column * varying + column];
            let sampling = (diagonal + expected[k] * expected[k]) / party.records;
            let precision = party.precision[(row + constant) * size + column + constant];
            let weight = sampling * precision / (1.0 + sampling * precision);
            scatter[k] = weight * scatter[k] + (1.0 - weight) * expected[k];
        }
    }
    let mut whitener = expected;
    // Lambda is positive definite, so the pooled covariance is; a failure leaves the expectation's diagonal.
    if factorise(&mut whitener, varying).is_err() {
        (0..varying * varying).for_each(|k| whitener[k] = f64::from(u8::from(k % (varying + 1) == 0)));
    }
    let inner = relative_factor(&whitener, &scatter, varying);
    let mut lower = vec![0.0; varying * varying];
    multiply_lower(&whitener, &inner, &mut lower, varying);
    if constant == 1 {
        let root = party.records.sqrt();
        party.estimate[0] = root;
        (0..varying).for_each(|k| party.estimate[(k + 1) * size] = root * mean[k]);
    }
    for (k, value) in lower.into_iter().enumerate() {
        party.estimate[(k / varying + constant) * size + k % varying + constant] = value;
    }
}

/// Lower factor of W^-1 A W^-T with its eigenvalues kept in [`RELATIVE`].
fn relative_factor(whitener: &[f64], matrix: &[f64], size: usize) -> Vec<f64> {
    let mut half = matrix.to_vec();
    solve_lower_columns(whitener, &mut half, size);
    let mut inner: Vec<f64> = (0..size * size).map(|k| half[k % size * size + k / size]).collect();
    solve_lower_columns(whitener, &mut inner, size);
    clip_eigenvalues(&mut inner, size, RELATIVE);
    if factorise(&mut inner, size).is_err() {
        (0..size * size).for_each(|k| inner[k] = f64::from(u8::from(k % (size + 1) == 0)));
    }
    inner
}

/// Replaces eigenvalues outside an interval by its ends.
fn clip_eigenvalues(matrix: &mut [f64], size: usize, (least, most): (f64, f64)) {
    // A regression on a constant alone has no features that vary.
    if size == 0 {
        return;
    }
    let mut eigen = EigenWorkspace::new(size);
    eigen.decompose(matrix);
    matrix.fill(0.0);
    for (vector, value) in eigen.rows.chunks_exact(size).zip(&eigen.values) {
        let value = value.clamp(least, most);
        for (row, factor) in matrix.chunks_exact_mut(size).zip(vector) {
            row.iter_mut().zip(vector).for_each(|(sum, other)| *sum += value * factor * other);
        }
    }
}

/// Expected posterior standard deviations of T around the identity, from the curvature of the Wishart density and of the noise.
fn fill_spread(party: &mut Observed, degrees: f64, constant: usize) {
    let size = party.cross.len();
    // The other parties tell of Sigma_x only what their share of the records allows.
    let informed = party.records * (1.0 - party.records / degrees);
    let estimate = &party.estimate;
    for row in constant..size {
        for column in 0..=row {
            // The image of the unit matrix of this entry and its mirror has rank two.
            let image = |i: usize, j: usize| {
                estimate[i * size + row] * estimate[j * size + column]
                    + estimate[i * size + column] * estimate[j * size + row]
            };
            let lower = (0..size).flat_map(|i| (0..=i).map(move |j| (i, j)));
            let noise: f64 = lower.map(|(i, j)| image(i, j).powi(2) * party.precision[i * size + j]).sum();
            let wishart = if row == column { 2.0 * informed } else { informed };
            party.spread[row * size + column] = 1.0 / (wishart + noise).sqrt();
        }
    }
}
