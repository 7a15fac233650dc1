//! The pass over records: clipped terms, rounded to the lattice and added up as integers.
//!
//! **Cost.** One read of the records; for each record and coordinate a product and a sum for the norm, and a product, a rounding and an integer
//! sum for the clipped term, in registers. Groups of records of which none is clipped need no root.

use pulp::{Simd, WithSimd};

use super::aligned::Aligned;
use super::lattice::{ROUND, STEPS, limit};
use super::model::RecordModel;
use super::records::{BLOCK, Block, Gradients};

/// Registers of records that are clipped together, enough to hide the latency of a sum.
const GROUP: usize = 4;
/// Lanes of the widest register.
const LANES: usize = 8;
/// Shorter gradients than this have squares that vanish. No clip bound is below it, whatever is asked.
const SHORTEST: f64 = 1e-140;

/// Working memory of one thread.
#[derive(Debug)]
pub(super) struct Scratch {
    /// Gradients, or the log ratios in the first [`BLOCK`] places.
    values: Aligned,
    /// Room for the other ends of log ratios.
    spare: Aligned,
    /// Sums of one block: for each coordinate as many as a register has lanes.
    lanes: Vec<u64>,
    /// A block of sampled records.
    pub(super) gathered: Aligned,
    /// Sums in steps of the lattice.
    pub(super) sums: Vec<i64>,
    /// Terms that were clipped.
    pub(super) clipped: i64,
}

impl Scratch {
    pub(super) fn new(dimension: usize, columns: usize) -> Self {
        Self {
            values: Aligned::zeros(dimension.max(1) * BLOCK),
            spare: Aligned::zeros(BLOCK),
            lanes: vec![0; dimension * LANES],
            gathered: Aligned::zeros(columns * BLOCK),
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
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { model, theta, block, clip, scratch } = self;
        let (dimension, rows) = (theta.len(), block.rows());
        let Scratch { values, lanes, sums, clipped, .. } = scratch;
        let values = &mut values[..dimension * BLOCK];
        model.gradient(theta, block, Gradients { values, rows });
        let whole = rows.next_multiple_of(GROUP * S::F64_LANES);
        if rows < whole {
            values.chunks_exact_mut(BLOCK).for_each(|gradients| gradients[rows..whole].fill(0.0));
        }
        let clipper = Clipper::new(simd, clip, dimension);
        let (values, totals) = (S::as_mut_simd_f64s(values).0, S::as_mut_simd_u64s(lanes).0);
        let totals = &mut totals[..dimension];
        totals.fill(simd.splat_u64s(0));
        let mut outside = 0.0;
        for group in 0..whole / (GROUP * S::F64_LANES) {
            outside += clipper.add_group(values, group * GROUP, totals);
        }
        *clipped += outside as i64;
        let start = ROUND.to_bits().wrapping_mul((whole / S::F64_LANES) as u64);
        for (sum, totals) in sums.iter_mut().zip(lanes.chunks_exact(S::F64_LANES)) {
            // Each lane has added the bits of ROUND once for each register.
            *sum += totals.iter().map(|total| total.wrapping_sub(start) as i64).sum::<i64>();
        }
    }
}

/// Clips, rounds and adds gradients, a few registers of records at a time.
struct Clipper<S: Simd> {
    simd: S,
    /// Squared norm above which gradients are clipped.
    bound: S::f64s,
    /// Steps in a unit of a gradient.
    scale: S::f64s,
    /// Steps in the longest gradient.
    limit: S::f64s,
}

impl<S: Simd> Clipper<S> {
    #[inline(always)]
    fn new(simd: S, clip: f64, dimension: usize) -> Self {
        let (scale, limit) = (STEPS / clip.max(SHORTEST), limit(dimension));
        let bound = (limit / scale) * (limit / scale);
        let [bound, scale, limit] = [bound, scale, limit].map(|value| simd.splat_f64s(value));
        Self { simd, bound, scale, limit }
    }

    /// Adds the gradients of one group to the totals, coordinate by coordinate; returns how many were clipped.
    #[inline(always)]
    fn add_group(&self, values: &mut [S::f64s], first: usize, totals: &mut [S::u64s]) -> f64 {
        let simd = self.simd;
        let stride = BLOCK / S::F64_LANES;
        let mut squares = [simd.splat_f64s(0.0); GROUP];
        for gradients in values.chunks_exact(stride) {
            for (square, gradient) in squares.iter_mut().zip(&gradients[first..first + GROUP]) {
                *square = simd.mul_add_e_f64s(*gradient, *gradient, *square);
            }
        }
        let outside = self.count_outside(&squares);
        let mut factors = [self.scale; GROUP];
        if outside > 0.0 {
            factors = self.shorten(squares, values, first);
        }
        let round = simd.splat_f64s(ROUND);
        for (total, gradients) in totals.iter_mut().zip(values.chunks_exact(stride)) {
            let mut sum = *total;
            for (gradient, factor) in gradients[first..first + GROUP].iter().zip(&factors) {
                // The last bits of the sum with ROUND are the rounded product, fused or not.
                let rounded = simd.mul_add_e_f64s(*gradient, *factor, round);
                sum = simd.add_u64s(sum, simd.transmute_u64s_f64s(rounded));
            }
            *total = sum;
        }
        outside
    }

    #[inline(always)]
    fn count_outside(&self, squares: &[S::f64s; GROUP]) -> f64 {
        let simd = self.simd;
        let (none, one) = (simd.splat_f64s(0.0), simd.splat_f64s(1.0));
        let mut count = none;
        for square in squares {
            let inside = simd.less_than_or_equal_f64s(*square, self.bound); // false for a NaN
            count = simd.add_f64s(count, simd.select_f64s(inside, none, one));
        }
        simd.reduce_sum_f64s(count)
    }

    /// The factors of a group in which something is clipped. Gradients whose norm is not a finite number become 0: no
    /// value may break the bound.
    #[inline(always)]
    fn shorten(&self, squares: [S::f64s; GROUP], values: &mut [S::f64s], first: usize) -> [S::f64s; GROUP] {
        let simd = self.simd;
        let mut factors = [self.scale; GROUP];
        let mut sum = simd.splat_f64s(0.0);
        for (factor, square) in factors.iter_mut().zip(squares) {
            let inside = simd.less_than_or_equal_f64s(square, self.bound); // false for a NaN
            let shorter = simd.div_f64s(self.limit, simd.sqrt_f64s(square));
            *factor = simd.select_f64s(inside, self.scale, shorter);
            sum = simd.add_f64s(sum, square);
        }
        // A sum of squares is infinite or NaN if one of them is.
        if !simd.reduce_sum_f64s(sum).is_finite() {
            self.silence(&squares, &mut factors, values, first);
        }
        factors
    }

    /// Gradients whose norm is not a finite number become 0, and their factors finite.
    #[inline(always)]
    fn silence(
        &self,
        squares: &[S::f64s; GROUP],
        factors: &mut [S::f64s; GROUP],
        values: &mut [S::f64s],
        first: usize,
    ) {
        let (simd, zero) = (self.simd, self.simd.splat_f64s(0.0));
        for (index, (factor, square)) in factors.iter_mut().zip(squares).enumerate() {
            let finite = simd.less_than_f64s(*square, simd.splat_f64s(f64::INFINITY)); // false for a NaN
            *factor = simd.select_f64s(finite, *factor, zero);
            for gradients in values.chunks_exact_mut(BLOCK / S::F64_LANES) {
                gradients[first + index] = simd.select_f64s(finite, gradients[first + index], zero);
            }
        }
    }
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
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { model, points, block, clip, scratch } = self;
        let rows = block.rows();
        let whole = rows.next_multiple_of(GROUP * S::F64_LANES);
        let Scratch { values, spare, sums, clipped, .. } = scratch;
        model.log_ratio(points, block, &mut values[..rows], &mut spare[..rows]);
        values[rows..whole].fill(0.0);
        let [scale, limit, round] = [STEPS / clip, limit(1), ROUND].map(|value| simd.splat_f64s(value));
        let (zero, one, least) = (simd.splat_f64s(0.0), simd.splat_f64s(1.0), simd.neg_f64s(limit));
        let (mut totals, mut outside) = ([zero; GROUP], [zero; GROUP]);
        for ratios in S::as_simd_f64s(&values[..whole]).0.chunks_exact(GROUP) {
            for ((ratio, total), outside) in ratios.iter().zip(&mut totals).zip(&mut outside) {
                let ratio = simd.mul_f64s(*ratio, scale);
                let inside = simd.less_than_or_equal_f64s(simd.abs_f64s(ratio), limit); // false for a NaN
                *outside = simd.add_f64s(*outside, simd.select_f64s(inside, zero, one));
                let below = simd.select_f64s(simd.less_than_f64s(ratio, least), least, zero);
                let edge = simd.select_f64s(simd.less_than_f64s(limit, ratio), limit, below);
                let steps = simd.select_f64s(inside, ratio, edge);
                let rounded = simd.sub_f64s(simd.add_f64s(steps, round), round);
                *total = simd.add_f64s(*total, rounded);
            }
        }
        // At most 128 integers up to 2^30: exact in any order.
        sums[0] += totals.into_iter().map(|total| simd.reduce_sum_f64s(total)).sum::<f64>() as i64;
        *clipped += outside.into_iter().map(|count| simd.reduce_sum_f64s(count)).sum::<f64>() as i64;
    }
}
