//! Gradients in memory: those that a model writes, and the rows of blocks that are not full or have values that are not finite.

use pulp::Simd;

use super::clipper::{Clipper, Columns, GROUP, Tiles};
use super::records::BLOCK;
use super::scratch::Scratch;

/// Adds the written gradients of so many records.
#[inline(always)]
pub(super) fn add_rows<S: Simd>(clipper: &Clipper<S>, rows: usize, scratch: &mut Scratch) {
    let Scratch { values, squares, lanes, sums, clipped, .. } = scratch;
    let whole = rows.next_multiple_of(GROUP * S::F64_LANES);
    if rows < whole {
        values.chunks_exact_mut(BLOCK).for_each(|gradients| gradients[rows..whole].fill(0.0));
    }
    let totals = &mut S::as_mut_simd_u64s(lanes).0[..sums.len()];
    let outside = clipper.measure(
        &Columns(S::as_simd_f64s(values).0),
        (totals.len(), 0.0),
        #[inline(always)]
        |_, square| square,
        S::as_mut_simd_f64s(&mut squares[..whole]).0,
    );
    *clipped += outside as i64;
    let registers = whole / S::F64_LANES;
    if outside == 0.0 {
        clipper.add_all(&Columns(S::as_simd_f64s(values).0), &clipper.whole(), registers, totals);
        return;
    }
    silence(&mut squares[..whole], values);
    clipper.shorten(&mut squares[..whole]);
    let factors = Columns(S::as_simd_f64s(squares).0);
    clipper.add_all(&Columns(S::as_simd_f64s(values).0), &factors, registers, totals);
}

/// Gradients whose norm is not a finite number become 0: no value may break the bound.
#[inline(always)]
fn silence(squares: &mut [f64], values: &mut [f64]) {
    let mut finite = true;
    for square in &*squares {
        finite &= *square < f64::INFINITY; // false for a NaN
    }
    if finite {
        return;
    }
    for (row, square) in squares.iter_mut().enumerate().filter(|(_, square)| !square.is_finite()) {
        *square = 0.0;
        values.chunks_exact_mut(BLOCK).for_each(|gradients| gradients[row] = 0.0);
    }
}

/// Writes computed gradients of a block, its unused places too.
#[inline(always)]
pub(super) fn write_tiles<S: Simd, T: Tiles<S>>(tiles: &T, scratch: &mut Scratch) {
    for (coordinate, gradients) in scratch.values.chunks_exact_mut(BLOCK).enumerate() {
        for (place, registers) in S::as_mut_simd_f64s(gradients).0.as_chunks_mut().0.iter_mut().enumerate() {
            *registers = tiles.tile(coordinate, place);
        }
    }
}
