//! Sums of clipped gradients over a run of blocks, in the form that suits the model.
//!
//! **Cost.** One read of the records; for each record and coordinate a product and a sum for the norm, and a product, a rounding and an integer
//! sum for the clipped term. Gradients that a model writes go through a near cache; those that are shifted or weighted columns stay in registers.
//! Blocks of which no record is clipped need no roots. A block that is not full, or has a gradient that is not finite, is written whatever the form.

use pulp::Simd;

use super::clipper::{Clipper, Tiles};
use super::records::{BLOCK, Block, Blocks, Gradients};
use super::scratch::Scratch;
use super::shifted::Shifted;
use super::weighted::WeightedForm;
use super::written::{add_rows, write_tiles};

/// A sum of clipped gradients that waits for the gradients of its records.
#[derive(Debug)]
pub struct GradientSum<'a, S: Simd> {
    simd: S,
    blocks: Blocks<'a>,
    clip: f64,
    scratch: &'a mut Scratch,
}

impl<'a, S: Simd> GradientSum<'a, S> {
    pub(super) fn new(simd: S, blocks: Blocks<'a>, clip: f64, scratch: &'a mut Scratch) -> Self {
        Self { simd, blocks, clip, scratch }
    }

    /// Adds gradients that are written to memory, block by block.
    #[inline(always)]
    pub fn add_written(self, write: impl Fn(Block<'a>, Gradients<'_>)) {
        let clipper = Clipper::new(self.simd, self.clip, self.scratch.sums.len());
        for block in self.blocks.iter() {
            let values = &mut self.scratch.values[..];
            write(block, Gradients { values, rows: block.rows() });
            add_rows(&clipper, block.rows(), self.scratch);
        }
    }

    /// Adds gradients that are the columns of a record minus shifts, which `find` writes.
    #[inline(always)]
    pub fn add_shifted(self, find: impl FnOnce(&mut [f64])) {
        let clipper = Clipper::new(self.simd, self.clip, self.scratch.sums.len());
        let mut shifts = std::mem::take(&mut self.scratch.constants);
        find(&mut shifts);
        for block in self.blocks.iter() {
            let shifted = Shifted::new(self.simd, block, &shifts);
            if block.rows() < BLOCK || !shifted.add(&clipper, self.scratch) {
                write_tiles(&shifted, self.scratch);
                add_rows(&clipper, block.rows(), self.scratch);
            }
        }
        self.scratch.constants = shifts;
    }

    /// Adds gradients of D coordinates that tiles compute; what makes them gets a block.
    #[inline(always)]
    pub(super) fn add_computed<const D: usize, T: Tiles<S>>(self, tiles: impl Fn(S, Block<'a>) -> T) {
        let clipper = Clipper::new(self.simd, self.clip, D);
        // What a block was like the next one probably is; the sum does not depend on it.
        let mut clips = false;
        for block in self.blocks.iter() {
            let tiles = tiles(self.simd, block);
            let outside = if block.rows() == BLOCK {
                add_few::<D, S, T>(&clipper, &tiles, &mut self.scratch.lanes, clips)
            } else {
                None
            };
            match outside {
                Some(outside) => self.scratch.clipped += outside as i64,
                None => {
                    write_tiles(&tiles, self.scratch);
                    add_rows(&clipper, block.rows(), self.scratch);
                }
            }
            clips = outside != Some(0.0);
        }
    }

    /// Adds gradients that are a weight times (1, x). `weigh` finds the linear predictors of a block with these coefficients and replaces
    /// them by the weights; if the form has a last coordinate, it writes that too.
    #[inline(always)]
    pub fn add_weighted(
        self,
        form: WeightedForm,
        coefficients: &[f64],
        weigh: impl Fn(Block<'a>, &mut [f64], &mut [f64]),
    ) {
        let clipper = Clipper::new(self.simd, self.clip, self.scratch.sums.len());
        for block in self.blocks.iter() {
            form.predict(self.simd, coefficients, block, &mut self.scratch.weights[..BLOCK]);
            let Scratch { weights, last, .. } = &mut *self.scratch;
            weigh(block, &mut weights[..block.rows()], &mut last[..block.rows()]);
            if block.rows() == BLOCK {
                form.add(&clipper, block, self.scratch);
            } else {
                form.write(block, self.scratch);
                add_rows(&clipper, block.rows(), self.scratch);
            }
        }
    }
}

/// Adds the gradients of a whole block and returns how many are clipped, or adds nothing and returns none if one of them is not finite.
#[inline(always)]
fn add_few<const D: usize, S: Simd, T: Tiles<S>>(
    clipper: &Clipper<S>,
    tiles: &T,
    lanes: &mut [u64],
    clips: bool,
) -> Option<f64> {
    let (registers, totals) = (BLOCK / S::F64_LANES, S::as_mut_simd_u64s(lanes).0.first_chunk_mut::<D>()?);
    if !clips && let Some(outside) = clipper.add_few::<D, false, T>(tiles, registers, totals) {
        return Some(outside);
    }
    clipper.add_few::<D, true, T>(tiles, registers, totals)
}
