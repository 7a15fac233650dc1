//! The pass over records: clipped terms, rounded to the lattice and added up as integers.
//!
//! **Cost.** One read of the records; for each record and coordinate a product for the norm, one for the clip, a rounding
//! and a sum, in loops without branches that the dispatcher compiles for the widest registers.

use pulp::{Simd, WithSimd};

use super::lattice::{ROUND, STEPS, limit};
use super::model::RecordModel;
use super::records::{BLOCK, Block, Gradients};

/// Sums that proceed side by side: a multiple of the lanes of every register.
const LANES: usize = 8;

/// Working memory of one thread.
#[derive(Debug)]
pub(super) struct Scratch {
    /// Gradients, or the log ratios in the first [`BLOCK`] places.
    values: Vec<f64>,
    /// What each gradient is multiplied with, or spare room.
    factors: Vec<f64>,
    /// A block of sampled records.
    pub(super) gathered: Vec<f64>,
    /// Sums in steps of the lattice.
    pub(super) sums: Vec<i64>,
    /// Terms that were clipped.
    pub(super) clipped: i64,
}

impl Scratch {
    pub(super) fn new(dimension: usize, columns: usize) -> Self {
        Self {
            values: vec![0.0; dimension.max(1) * BLOCK],
            factors: vec![0.0; BLOCK],
            gathered: vec![0.0; columns * BLOCK],
            sums: vec![0; dimension],
            clipped: 0,
        }
    }

    pub(super) fn clear(&mut self) {
        self.sums.fill(0);
        self.clipped = 0;
    }
}

/// Adds the clipped gradients of a block to the sums of the scratch.
pub(super) struct AddGradients<'a, M> {
    pub(super) model: &'a M,
    pub(super) theta: &'a [f64],
    pub(super) block: Block<'a>,
    pub(super) clip: f64,
    pub(super) scratch: &'a mut Scratch,
}

impl<M: RecordModel> WithSimd for AddGradients<'_, M> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let Self { model, theta, block, clip, scratch } = self;
        let (dimension, rows) = (theta.len(), block.rows());
        let whole = rows.next_multiple_of(LANES);
        let Scratch { values, factors, sums, clipped, .. } = scratch;
        let values = &mut values[..dimension * BLOCK];
        model.gradient(theta, block, Gradients { values, rows });
        let factors = &mut factors[..whole];
        factors.fill(0.0);
        for gradients in values.chunks_exact_mut(BLOCK) {
            gradients[rows..whole].fill(0.0);
            for (square, gradient) in factors.iter_mut().zip(&*gradients) {
                *square += gradient * gradient;
            }
        }
        *clipped += clip_factors(factors, clip, dimension);
        silence_broken(values, factors);
        for (sum, gradients) in sums.iter_mut().zip(values.chunks_exact(BLOCK)) {
            *sum += rounded_sum(&gradients[..whole], factors);
        }
    }
}

/// Squared norms become the factors by which gradients are clipped and counted in steps; returns how many were clipped.
/// A norm that is not finite gives the factor 0.
#[inline(always)]
fn clip_factors(factors: &mut [f64], clip: f64, dimension: usize) -> i64 {
    let (scale, limit) = (STEPS / clip, limit(dimension));
    let mut clipped = [0.0; LANES];
    for lanes in factors.chunks_exact_mut(LANES) {
        for (factor, clipped) in lanes.iter_mut().zip(&mut clipped) {
            let norm = factor.sqrt();
            let inside = norm * scale <= limit; // false for a NaN
            *clipped += if inside { 0.0 } else { 1.0 };
            // limit / infinity is 0; a NaN is made 0 by hand.
            let outside = if norm > 0.0 { limit / norm } else { 0.0 };
            *factor = if inside { scale } else { outside };
        }
    }
    clipped.iter().sum::<f64>() as i64
}

/// Gradients of records whose norm is not a finite number count as 0: no value may break the bound.
#[inline(always)]
fn silence_broken(values: &mut [f64], factors: &[f64]) {
    if factors.iter().all(|factor| *factor > 0.0) {
        return;
    }
    for gradients in values.chunks_exact_mut(BLOCK) {
        for (gradient, factor) in gradients.iter_mut().zip(factors) {
            *gradient = if *factor > 0.0 { *gradient } else { 0.0 };
        }
    }
}

/// The sum of the rounded products: at most 256 integers up to 2^30, so exact in any order.
#[inline(always)]
fn rounded_sum(values: &[f64], factors: &[f64]) -> i64 {
    let mut sums = [0.0; LANES];
    for (values, factors) in values.chunks_exact(LANES).zip(factors.chunks_exact(LANES)) {
        for ((sum, value), factor) in sums.iter_mut().zip(values).zip(factors) {
            *sum += (value * factor + ROUND) - ROUND;
        }
    }
    sums.iter().sum::<f64>() as i64
}

/// Adds the clipped log-likelihood ratios of a block to the first sum of the scratch.
pub(super) struct AddRatios<'a, M> {
    pub(super) model: &'a M,
    pub(super) points: (&'a [f64], &'a [f64]),
    pub(super) block: Block<'a>,
    pub(super) clip: f64,
    pub(super) scratch: &'a mut Scratch,
}

impl<M: RecordModel> WithSimd for AddRatios<'_, M> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let Self { model, points, block, clip, scratch } = self;
        let rows = block.rows();
        let whole = rows.next_multiple_of(LANES);
        let Scratch { values, factors, sums, clipped, .. } = scratch;
        model.log_ratio(points, block, &mut values[..rows], &mut factors[..rows]);
        values[rows..whole].fill(0.0);
        let (scale, limit) = (STEPS / clip, limit(1));
        let (mut total, mut outside) = ([0.0; LANES], [0.0; LANES]);
        for lanes in values[..whole].chunks_exact(LANES) {
            for ((ratio, total), outside) in lanes.iter().zip(&mut total).zip(&mut outside) {
                let ratio = ratio * scale;
                let inside = ratio.abs() <= limit; // false for a NaN
                *outside += if inside { 0.0 } else { 1.0 };
                let edge = if ratio > limit {
                    limit
                } else if ratio < -limit {
                    -limit
                } else {
                    0.0
                };
                *total += ((if inside { ratio } else { edge }) + ROUND) - ROUND;
            }
        }
        sums[0] += total.iter().sum::<f64>() as i64;
        *clipped += outside.iter().sum::<f64>() as i64;
    }
}
