//! Gradients of the form w (1, x): a weight of the record times its features. They are never written, and their norm is |w| |(1, x)|.

use pulp::Simd;

use super::clipper::{Clipper, Columns, Constant};
use super::records::{BLOCK, Block};
use super::scratch::Scratch;
use super::written::add_rows;

/// Added to the squared norm of features without a 1. Where their squares vanish it is the larger, so that no norm is found too short; a product with a
/// weight that vanishes all the same belongs to a gradient below 1e-150, which is inside every bound.
const VANISHING: f64 = 1e-300;

/// Which coordinates a gradient of the form w (1, x) has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WeightedForm {
    /// Whether the 1 is there, the first coordinate.
    pub intercept: bool,
    /// How many of the first columns of a record are x.
    pub features: usize,
    /// Whether one coordinate more follows, which is written.
    pub last: bool,
}

impl WeightedForm {
    /// Linear predictors of a block, column after column, which is how fresh records are best read.
    #[inline(always)]
    pub(super) fn predict<S: Simd>(self, simd: S, coefficients: &[f64], block: Block<'_>, z: &mut [f64]) {
        let (start, slopes) = coefficients.split_at(usize::from(self.intercept));
        let mut sums = [simd.splat_f64s(start.first().copied().unwrap_or(0.0)); BLOCK];
        let sums = &mut sums[..BLOCK / S::F64_LANES];
        let columns = Columns::<S>::of(block, self.features);
        for (column, slope) in columns.0.chunks_exact(BLOCK / S::F64_LANES).zip(slopes) {
            let slope = simd.splat_f64s(*slope);
            for (sum, x) in sums.iter_mut().zip(column) {
                *sum = simd.mul_add_e_f64s(slope, *x, *sum);
            }
        }
        S::as_mut_simd_f64s(z).0.copy_from_slice(sums);
    }

    /// Adds the gradients of a whole block of which the weights are known.
    #[inline(always)]
    pub(super) fn add<S: Simd>(self, clipper: &Clipper<S>, block: Block<'_>, scratch: &mut Scratch) {
        if !self.add_finite(clipper, &Columns::of(block, self.features), scratch) {
            self.set_apart(clipper, block, scratch);
            let values = std::mem::take(&mut scratch.values);
            let columns = Columns::<S>(S::as_simd_f64s(&values[..self.features * BLOCK]).0);
            self.add_finite(clipper, &columns, scratch);
            scratch.values = values;
        }
    }

    /// Adds the gradients of a whole block, or nothing and `false` if one of them is not finite.
    #[inline(always)]
    fn add_finite<S: Simd>(
        self,
        clipper: &Clipper<S>,
        columns: &Columns<'_, S>,
        scratch: &mut Scratch,
    ) -> bool {
        let outside = self.measure(clipper, columns, scratch);
        if outside == 0.0 {
            scratch.squares.fill(clipper.scale);
        } else if !clipper.shorten(&mut scratch.squares) {
            return false;
        }
        scratch.clipped += outside as i64;
        let Scratch { squares, weights, last, lanes, sums, .. } = scratch;
        let registers = BLOCK / S::F64_LANES;
        let mut totals = S::as_mut_simd_u64s(lanes).0[..sums.len()].iter_mut();
        if self.last
            && let Some(total) = totals.next_back()
        {
            let factors = Columns::<S>(S::as_simd_f64s(squares).0);
            clipper.add((&Columns::<S>(S::as_simd_f64s(last).0), 0), &factors, registers, total);
        }
        for (weight, factor) in weights.iter_mut().zip(squares.iter()) {
            *weight *= factor;
        }
        let factors = Columns::<S>(S::as_simd_f64s(weights).0);
        if self.intercept
            && let Some(total) = totals.next()
        {
            let one = Constant(clipper.simd.splat_f64s(1.0));
            clipper.add((&one, 0), &factors, registers, total);
        }
        clipper.add_all(columns, &factors, registers, totals.into_slice());
        true
    }

    /// Adds those gradients of a block by themselves whose norms are not finite, or overflow in this form, and copies the block without them. The others go
    /// the same way as ever: writing them too would round some to the next step, and one record would move the terms of others.
    #[cold]
    fn set_apart<S: Simd>(self, clipper: &Clipper<S>, block: Block<'_>, scratch: &mut Scratch) {
        self.measure(clipper, &Columns::of(block, self.features), scratch);
        let mut apart = [false; BLOCK];
        apart.iter_mut().zip(&*scratch.squares).for_each(|(apart, square)| *apart = !square.is_finite());
        self.write(block, scratch);
        for gradients in scratch.values.chunks_exact_mut(BLOCK) {
            clear(gradients, |row| !apart[row]);
        }
        add_rows(clipper, BLOCK, scratch);
        let Scratch { values, weights, last, .. } = scratch;
        let columns = &mut values[..self.features * BLOCK];
        columns.copy_from_slice(&block.values()[..columns.len()]);
        columns.chunks_exact_mut(BLOCK).for_each(|column| clear(column, |row| apart[row]));
        clear(weights, |row| apart[row]);
        clear(last, |row| apart[row]);
    }

    /// Squared norms; returns how many are outside the bound.
    #[inline(always)]
    fn measure<S: Simd>(self, clipper: &Clipper<S>, columns: &Columns<'_, S>, scratch: &mut Scratch) -> f64 {
        let simd = clipper.simd;
        let (weights, last) = (S::as_simd_f64s(&scratch.weights).0, S::as_simd_f64s(&scratch.last).0);
        clipper.measure(
            columns,
            (self.features, if self.intercept { 1.0 } else { VANISHING }),
            #[inline(always)]
            |index, square| {
                // In this order no product vanishes or overflows that matters, however small or large the weight.
                let square = simd.mul_f64s(simd.mul_f64s(weights[index], square), weights[index]);
                if self.last { simd.mul_add_e_f64s(last[index], last[index], square) } else { square }
            },
            S::as_mut_simd_f64s(&mut scratch.squares[..BLOCK]).0,
        )
    }

    /// Writes the gradients of a block of which the weights are known.
    #[inline(always)]
    pub(super) fn write(self, block: Block<'_>, scratch: &mut Scratch) {
        let Scratch { values, weights, last, .. } = scratch;
        let (ones, columns) = values.split_at_mut(if self.intercept { BLOCK } else { 0 });
        ones.copy_from_slice(&weights[..ones.len()]);
        let (features, end) = columns.split_at_mut(self.features * BLOCK);
        for (index, gradients) in features.chunks_exact_mut(BLOCK).enumerate() {
            for ((gradient, weight), x) in gradients.iter_mut().zip(&**weights).zip(block.column(index)) {
                *gradient = weight * x;
            }
        }
        if self.last {
            end.copy_from_slice(last);
        }
    }
}

/// Sets the numbers of some rows to 0.
fn clear(values: &mut [f64], which: impl Fn(usize) -> bool) {
    values.iter_mut().enumerate().filter(|(row, _)| which(*row)).for_each(|(_, value)| *value = 0.0);
}
