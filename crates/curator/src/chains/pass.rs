//! The passes over records: clipped terms, rounded to the lattice and added up as integers.

use pulp::{Simd, WithSimd};

use super::clipper::GROUP;
use super::gradient_sum::GradientSum;
use super::lattice::{ROUND, STEPS, limit};
use super::model::RecordModel;
use super::records::Blocks;
use super::scratch::Scratch;

/// Adds the clipped gradients of a run of blocks to the sums of the scratch.
pub(super) struct AddGradients<'a, M> {
    pub(super) model: &'a M,
    pub(super) theta: &'a [f64],
    pub(super) blocks: Blocks<'a>,
    pub(super) clip: f64,
    pub(super) scratch: &'a mut Scratch,
}

impl<M: RecordModel> WithSimd for AddGradients<'_, M> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { model, theta, blocks, clip, scratch } = self;
        scratch.lanes.fill(0);
        model.add_gradients(theta, GradientSum::new(simd, blocks, clip, scratch));
        for (sum, lanes) in scratch.sums.iter_mut().zip(scratch.lanes.chunks_exact(S::F64_LANES)) {
            *sum += lanes.iter().map(|lane| *lane as i64).sum::<i64>();
        }
    }
}

/// Adds the clipped log-likelihood ratios of a run of blocks to the first sum of the scratch.
pub(super) struct AddRatios<'a, M> {
    pub(super) model: &'a M,
    pub(super) points: (&'a [f64], &'a [f64]),
    pub(super) blocks: Blocks<'a>,
    pub(super) clip: f64,
    pub(super) scratch: &'a mut Scratch,
}

impl<M: RecordModel> WithSimd for AddRatios<'_, M> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { model, points, blocks, clip, scratch } = self;
        let mut sum = RatioSum::new(simd, clip);
        for block in blocks.iter() {
            let Scratch { values, weights, .. } = &mut *scratch;
            model.log_ratio(points, block, &mut values[..block.rows()], &mut weights[..block.rows()]);
            sum.add(block.rows(), values);
        }
        let [steps, clipped] = [sum.totals, sum.outside].map(|counts| {
            // Integers, in each lane at most 2^34 for each block, and a run has far fewer than 2^19 of them: exact in any order.
            counts.into_iter().map(|count| simd.reduce_sum_f64s(count) as i64).sum::<i64>()
        });
        scratch.sums[0] += steps;
        scratch.clipped += clipped;
    }
}

/// Clipped ratios, rounded to steps and added up.
struct RatioSum<S: Simd> {
    simd: S,
    /// Steps in a unit of a ratio.
    scale: S::f64s,
    /// Steps in the largest ratio.
    limit: S::f64s,
    totals: [S::f64s; GROUP],
    /// Ratios that were clipped.
    outside: [S::f64s; GROUP],
}

impl<S: Simd> RatioSum<S> {
    #[inline(always)]
    fn new(simd: S, clip: f64) -> Self {
        let none = [simd.splat_f64s(0.0); GROUP];
        let (scale, limit) = (simd.splat_f64s(STEPS / clip), simd.splat_f64s(limit(1)));
        Self { simd, scale, limit, totals: none, outside: none }
    }

    /// Adds the first `rows` ratios.
    #[inline(always)]
    fn add(&mut self, rows: usize, values: &mut [f64]) {
        let (simd, limit) = (self.simd, self.limit);
        let whole = rows.next_multiple_of(GROUP * S::F64_LANES);
        values[rows..whole].fill(0.0);
        let (zero, one, round) = (simd.splat_f64s(0.0), simd.splat_f64s(1.0), simd.splat_f64s(ROUND));
        let least = simd.neg_f64s(limit);
        for ratios in S::as_simd_f64s(&values[..whole]).0.chunks_exact(GROUP) {
            for ((ratio, total), outside) in ratios.iter().zip(&mut self.totals).zip(&mut self.outside) {
                let ratio = simd.mul_f64s(*ratio, self.scale);
                let inside = simd.less_than_or_equal_f64s(simd.abs_f64s(ratio), limit); // false for a NaN
                *outside = simd.add_f64s(*outside, simd.select_f64s(inside, zero, one));
                let below = simd.select_f64s(simd.less_than_f64s(ratio, least), least, zero);
                let edge = simd.select_f64s(simd.less_than_f64s(limit, ratio), limit, below);
                let steps = simd.select_f64s(inside, ratio, edge);
                let rounded = simd.sub_f64s(simd.add_f64s(steps, round), round);
                *total = simd.add_f64s(*total, rounded);
            }
        }
    }
}
