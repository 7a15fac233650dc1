//! Gradients that are the columns of a record minus numbers.

use pulp::Simd;

use super::clipper::{Clipper, Columns, GROUP, Tiles};
use super::records::{BLOCK, Block};
use super::scratch::Scratch;

/// The columns of a block and what is taken from each.
pub(super) struct Shifted<'a, S: Simd> {
    simd: S,
    columns: Columns<'a, S>,
    shifts: &'a [f64],
}

impl<'a, S: Simd> Shifted<'a, S> {
    #[inline(always)]
    pub(super) fn new(simd: S, block: Block<'a>, shifts: &'a [f64]) -> Self {
        Self { simd, columns: Columns::of(block, shifts.len()), shifts }
    }

    /// Adds the gradients of a whole block, or nothing and `false` if one of them is not finite.
    #[inline(always)]
    pub(super) fn add(&self, clipper: &Clipper<S>, scratch: &mut Scratch) -> bool {
        let (squares, registers) = (&mut scratch.squares[..BLOCK], BLOCK / S::F64_LANES);
        let totals = &mut S::as_mut_simd_u64s(&mut scratch.lanes).0[..self.shifts.len()];
        self.measure(S::as_mut_simd_f64s(squares).0);
        let outside = clipper.outside(S::as_simd_f64s(squares).0);
        if outside == 0.0 {
            clipper.add_all(self, &clipper.whole(), registers, totals);
        } else if clipper.shorten(squares) {
            clipper.add_all(self, &Columns(S::as_simd_f64s(squares).0), registers, totals);
        } else {
            return false;
        }
        scratch.clipped += outside as i64;
        true
    }

    /// Squared norms, column after column: fresh records are best read in the order of memory.
    #[inline(always)]
    fn measure(&self, squares: &mut [S::f64s]) {
        let simd = self.simd;
        let mut sums = [simd.splat_f64s(0.0); BLOCK];
        let sums = &mut sums[..BLOCK / S::F64_LANES];
        for (column, shift) in self.columns.0.chunks_exact(BLOCK / S::F64_LANES).zip(self.shifts) {
            let shift = simd.splat_f64s(*shift);
            for (sum, value) in sums.iter_mut().zip(column) {
                let gradient = simd.sub_f64s(*value, shift);
                *sum = simd.mul_add_e_f64s(gradient, gradient, *sum);
            }
        }
        squares.copy_from_slice(sums);
    }
}

impl<S: Simd> Tiles<S> for Shifted<'_, S> {
    #[inline(always)]
    fn tile(&self, coordinate: usize, place: usize) -> [S::f64s; GROUP] {
        let shift = self.simd.splat_f64s(self.shifts[coordinate]);
        let mut tile = self.columns.tile(coordinate, place);
        for value in &mut tile {
            *value = self.simd.sub_f64s(*value, shift);
        }
        tile
    }
}
