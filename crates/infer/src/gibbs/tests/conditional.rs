//! The draw of a Gram matrix given everything else, against the product of two normal densities.

use std::sync::Arc;

use organza_mcmc::ChainRng;
use organza_release::Family;

use super::{VARIANCE, fourth_moments, largest, normal_record, theta};
use crate::evidence::GramNoise;
use crate::gibbs::dense::{DenseConditional, DensePool, entries};
use crate::gibbs::fourth::FourthRecord;
use crate::gibbs::pool::Pool;
use crate::gibbs::record::RecordLaw;
use crate::gibbs::spectral::{Basis, SpectralConditional};
use crate::linalg::Cholesky;

const RECORDS: f64 = 12.0;
const DRAWS: usize = 20_000;

/// A pool with isometric noise but for y'y; the released values are some distance from what is expected.
fn pool(size: usize, constant: bool) -> Pool {
    let weights: Vec<f64> = (0..size).map(|k| [0.8, 1.0, 1.0, 0.6][k + 4 - size]).collect();
    let mut scales = vec![0.0; size * size];
    for row in 0..size {
        for column in 0..size {
            scales[row * size + column] = if row == column { 3.0 } else { 3.0 / 2f64.sqrt() };
        }
    }
    scales[size * size - 1] = 1.2;
    let mut gram: Vec<f64> = (0..size * size)
        .map(|k| if k / size == k % size { 9.0 } else { 2.0 - (k / size * (k % size)) as f64 })
        .collect();
    if constant {
        (scales[0], gram[0]) = (0.0, RECORDS * weights[0] * weights[0]);
    }
    let noise = GramNoise { family: Family::Gaussian, weights, scales, record_scale: None, averaged: 1 };
    Pool { each: RECORDS / 3.0, parties: 3.0, gram, noise: Arc::new(noise) }
}

/// Mean and covariance of s | z by the formulas of `NormProduct`, with inverses: an independent way.
fn product_of_normals(record: &mut RecordLaw, pool: &DensePool, size: usize) -> (Vec<f64>, Vec<f64>) {
    let entries = entries(size, pool.released.len() < size * (size + 1) / 2);
    let count = entries.len();
    let mut sampling = vec![0.0; count * count];
    record.covariance(pool.records, &mut sampling);
    let mut precision = Cholesky::new(&sampling, count).unwrap().inverse();
    let mut shift = vec![0.0; count];
    for (a, value) in shift.iter_mut().enumerate() {
        let expected = |b: usize| pool.records * record.second()[entries[b].0 * size + entries[b].1];
        *value = (0..count).map(|b| precision[a * count + b] * expected(b)).sum();
        *value += pool.released[a] / pool.noise_variance(a);
    }
    (0..count).for_each(|a| precision[a * count + a] += 1.0 / pool.noise_variance(a));
    let covariance = Cholesky::new(&precision, count).unwrap().inverse();
    let mean = (0..count).map(|a| (0..count).map(|b| covariance[a * count + b] * shift[b]).sum()).collect();
    (mean, covariance)
}

/// z-scores of all means and covariances of drawn matrices.
fn compare(draws: &[Vec<f64>], entries: &[(usize, usize)], size: usize, want: &(Vec<f64>, Vec<f64>)) {
    let (count, n) = (entries.len(), draws.len() as f64);
    let limit = largest(count + count * (count + 1) / 2);
    let value = |draw: &[f64], a: usize| draw[entries[a].0 * size + entries[a].1] - want.0[a];
    for a in 0..count {
        let mean = draws.iter().map(|draw| value(draw, a)).sum::<f64>() / n;
        let z = mean / (want.1[a * count + a] / n).sqrt();
        assert!(z.abs() < limit, "mean {:?}: z = {z}", entries[a]);
        for b in 0..=a {
            let product = draws.iter().map(|draw| value(draw, a) * value(draw, b)).sum::<f64>() / n;
            let expected = want.1[a * count + b];
            let spread = want.1[a * count + a] * want.1[b * count + b] + expected * expected;
            let z = (product - expected) / (spread / n).sqrt();
            assert!(z.abs() < limit, "covariance {:?} {:?}: z = {z}", entries[a], entries[b]);
        }
    }
}

fn dense_draws(record: &mut RecordLaw, pools: &[DensePool], size: usize, constant: bool) -> Vec<Vec<f64>> {
    let mut rng = ChainRng::new(11, 0);
    let mut conditional = DenseConditional::new(size, constant, pools, &mut rng);
    let mut draw = || {
        let mut total = vec![0.0; size * size];
        conditional.draw(&mut rng, pools, record, &mut total).unwrap();
        total
    };
    (0..DRAWS).map(|_| draw()).collect()
}

/// Catches noise that is drawn with its variance for its scale, half the dual beside the diagonal left out, sqrt(J) forgotten.
#[test]
fn dense_draws_have_the_moments_of_the_product() {
    for constant in [false, true] {
        let size = 3 + usize::from(constant);
        let entries = entries(size, constant);
        let pool = DensePool::new(&pool(size, constant), &entries);
        let mut record = RecordLaw::Normal(normal_record(constant));
        let want = product_of_normals(&mut record, &pool, size);
        let draws = dense_draws(&mut record, &[pool], size, constant);
        compare(&draws, &entries, size, &want);
    }
}

/// Catches P without the 2 theta in its corner.
#[test]
fn dense_draws_with_fourth_moments() {
    let entries = entries(4, true);
    let pool = DensePool::new(&pool(4, true), &entries);
    let mut record = FourthRecord::new(fourth_moments());
    record.set(theta(true), VARIANCE);
    let mut record = RecordLaw::Fourth(record);
    // Five points do not span all products: C is singular, which the draws do not mind.
    let want = gain_form(&mut record, &pool, &entries);
    let draws = dense_draws(&mut record, &[pool], 4, true);
    compare(&draws, &entries, 4, &want);
}

/// The same moments without the inverse of Sigma_t: m + K (z - m) and S - K S.
fn gain_form(record: &mut RecordLaw, pool: &DensePool, entries: &[(usize, usize)]) -> (Vec<f64>, Vec<f64>) {
    let (count, size) = (entries.len(), 4);
    let mut sampling = vec![0.0; count * count];
    record.covariance(pool.records, &mut sampling);
    (0..count * count).for_each(|k| {
        let (row, column) = (k / count, k % count);
        sampling[k] = sampling[row.max(column) * count + row.min(column)];
    });
    let mut total = sampling.clone();
    (0..count).for_each(|a| total[a * count + a] += pool.noise_variance(a));
    let inverse = Cholesky::new(&total, count).unwrap().inverse();
    let product = |left: &[f64], right: &[f64]| -> Vec<f64> {
        let entry = |i: usize, j: usize| (0..count).map(|m| left[i * count + m] * right[m * count + j]).sum();
        (0..count * count).map(|k| entry(k / count, k % count)).collect()
    };
    let gain = product(&sampling, &inverse);
    let kept = product(&gain, &sampling);
    let expected: Vec<f64> =
        entries.iter().map(|&(i, j)| pool.records * record.second()[i * size + j]).collect();
    let mean = (0..count)
        .map(|a| {
            let terms = (0..count).map(|b| gain[a * count + b] * (pool.released[b] - expected[b]));
            expected[a] + terms.sum::<f64>()
        })
        .collect();
    (mean, sampling.iter().zip(kept).map(|(all, part)| all - part).collect())
}

/// Catches a rank-one term with the wrong sign, the constant's variance left in, y'y with the common scale.
#[test]
fn spectral_draws_have_the_moments_of_the_product() {
    for constant in [false, true] {
        let size = 3 + usize::from(constant);
        let entries = entries(size, constant);
        let pool = pool(size, constant);
        let isometry = pool.noise.isometry().unwrap();
        let record = normal_record(constant);
        let dense = DensePool::new(&pool, &entries);
        let want = product_of_normals(&mut RecordLaw::Normal(record.clone()), &dense, size);
        let mut bases = vec![];
        Basis::insert(&mut bases, &pool, isometry);
        let (mut rng, mut conditional) = (ChainRng::new(12, 0), SpectralConditional::new(size, constant));
        let mut draw = || {
            let mut total = vec![0.0; size * size];
            conditional.draw(&mut rng, &bases, &record, &mut total).unwrap();
            total
        };
        let draws: Vec<Vec<f64>> = (0..DRAWS).map(|_| draw()).collect();
        compare(&draws, &entries, size, &want);
        if constant {
            let worst = draws.iter().map(|draw| (draw[0] - RECORDS).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-9, "the number of records varies by {worst}");
        }
    }
}

/// Entries without noise stay what they are, and the others follow them.
#[test]
fn exact_entries_are_kept() {
    let entries = entries(3, false);
    let mut pool = pool(3, false);
    let mut noise = (*pool.noise).clone();
    (noise.scales[4], noise.scales[8]) = (0.0, 0.0);
    pool.noise = Arc::new(noise);
    let pool = DensePool::new(&pool, &entries);
    let mut record = RecordLaw::Normal(normal_record(false));
    let mut almost = pool.clone();
    almost.scales.iter_mut().filter(|scale| **scale == 0.0).for_each(|scale| *scale = 1e-4);
    let want = product_of_normals(&mut record, &almost, 3);
    let draws = dense_draws(&mut record, std::slice::from_ref(&pool), 3, false);
    assert!(draws.iter().all(|draw| draw[4] == pool.released[3] && draw[8] == pool.released[5]));
    let limit = largest(1);
    let mean = draws.iter().map(|draw| draw[0]).sum::<f64>() / DRAWS as f64;
    let z = (mean - want.0[0]) / (want.1[0] / DRAWS as f64).sqrt();
    assert!(z.abs() < limit, "z = {z}");
}
