//! Clips, rounds and adds gradients, a few registers of records at a time.
//!
//! **How.** One walk over the gradients of a block finds their squared norms. From these follow factors, steps of the lattice in a unit of the
//! gradient, smaller where it is clipped. A second walk, coordinate by coordinate, multiplies, rounds and adds up integers in registers.
//!
//! **Why no term leaves the ball.** Up to the rounding of floating-point numbers a term has at most [`limit`] steps before it is rounded
//! to the lattice: inside the bound by the comparison, outside because the series for an inverse root stays below it. A squared norm of d
//! coordinates, its inverse root and the products have relative errors below (d + 20) 2^-53, or (d + 20) 2^-23 steps: less than the whole step that the limit keeps
//! free for any d below 2^22.

use pulp::{Simd, bytemuck};

use super::lattice::{ROUND, STEPS, limit};
use super::records::{BLOCK, Block};

/// Registers of records that are handled together, enough to hide the latency of a sum.
pub(super) const GROUP: usize = 4;
/// Shorter gradients than this have squares that vanish. No clip bound is below it, whatever is asked.
const SHORTEST: f64 = 1e-140;
/// The bits of a number, halved and taken from this, are those of its inverse root, to 3.5 percent.
const INVERSE_ROOT: u64 = 0x5FE6_EB50_C7B5_37A9;
/// The polynomial of degree 6 that is nearest to (1 - r)^-1/2 for |r| <= 0.0701, which is what that guess leaves, lowered by its error: it is never above,
/// and never below by more than 4.9e-11, a twentieth of a step.
const SERIES: [f64; 7] = [
    0.999_999_999_978_071_8,
    0.500_000_002_431_008_4,
    0.374_999_990_179_937,
    0.312_495_875_951_567_5,
    0.273_442_521_905_908_3,
    0.247_834_672_975_127_83,
    0.225_675_395_805_142_36,
];

/// Gradients of a block, a few registers of one coordinate at a time. They are asked for twice and must be the same.
pub(super) trait Tiles<S: Simd> {
    /// Coordinate `coordinate` of the records in the registers of the group at `place`.
    fn tile(&self, coordinate: usize, place: usize) -> [S::f64s; GROUP];
}

/// Numbers in memory, coordinate after coordinate, each with [`BLOCK`] of them.
pub(super) struct Columns<'a, S: Simd>(pub(super) &'a [S::f64s]);

impl<'a, S: Simd> Columns<'a, S> {
    /// The first columns of a block.
    #[inline(always)]
    pub(super) fn of(block: Block<'a>, columns: usize) -> Self {
        Self(S::as_simd_f64s(&block.values()[..columns * BLOCK]).0)
    }
}

impl<S: Simd> Tiles<S> for Columns<'_, S> {
    #[inline(always)]
    fn tile(&self, coordinate: usize, place: usize) -> [S::f64s; GROUP] {
        let groups = BLOCK / S::F64_LANES / GROUP;
        self.0.as_chunks().0[coordinate * groups..(coordinate + 1) * groups][place]
    }
}

/// The same number everywhere.
pub(super) struct Constant<S: Simd>(pub(super) S::f64s);

impl<S: Simd> Tiles<S> for Constant<S> {
    #[inline(always)]
    fn tile(&self, _coordinate: usize, _place: usize) -> [S::f64s; GROUP] {
        [self.0; GROUP]
    }
}

/// The clip bound, in the forms that are compared and multiplied.
pub(super) struct Clipper<S: Simd> {
    pub(super) simd: S,
    /// Squared norm above which gradients are clipped.
    bound: f64,
    /// Steps in a unit of a gradient.
    pub(super) scale: f64,
    /// The series of an inverse root, times the steps in the longest gradient.
    series: [f64; 7],
}

impl<S: Simd> Clipper<S> {
    #[inline(always)]
    pub(super) fn new(simd: S, clip: f64, dimension: usize) -> Self {
        let (scale, limit) = (STEPS / clip.max(SHORTEST), limit(dimension));
        let series = SERIES.map(|term| term * limit);
        Self { simd, bound: (limit / scale) * (limit / scale), scale, series }
    }

    /// Squared norms of gradients: `start` and the squares of the first `coordinates`, completed by `finish`. Returns how
    /// many are outside the bound.
    #[inline(always)]
    pub(super) fn measure<T: Tiles<S>>(
        &self,
        tiles: &T,
        (coordinates, start): (usize, f64),
        finish: impl Fn(usize, S::f64s) -> S::f64s,
        squares: &mut [S::f64s],
    ) -> f64 {
        let simd = self.simd;
        let mut outside = [simd.splat_f64s(0.0); GROUP];
        for (place, squares) in squares.as_chunks_mut::<GROUP>().0.iter_mut().enumerate() {
            let mut sums = [simd.splat_f64s(start); GROUP];
            for coordinate in 0..coordinates {
                self.add_squares(tiles.tile(coordinate, place), &mut sums);
            }
            for (index, (square, sum)) in squares.iter_mut().zip(sums).enumerate() {
                *square = finish(place * GROUP + index, sum);
            }
            self.count(squares, &mut outside);
        }
        self.total(outside)
    }

    #[inline(always)]
    fn add_squares(&self, values: [S::f64s; GROUP], squares: &mut [S::f64s; GROUP]) {
        for (square, value) in squares.iter_mut().zip(values) {
            *square = self.simd.mul_add_e_f64s(value, value, *square);
        }
    }

    /// How many squared norms are outside the bound.
    #[inline(always)]
    pub(super) fn outside(&self, squares: &[S::f64s]) -> f64 {
        let mut outside = [self.simd.splat_f64s(0.0); GROUP];
        for squares in squares.as_chunks().0 {
            self.count(squares, &mut outside);
        }
        self.total(outside)
    }

    /// One more outside the bound in each lane where the square is.
    #[inline(always)]
    fn count(&self, squares: &[S::f64s; GROUP], outside: &mut [S::f64s; GROUP]) {
        let simd = self.simd;
        let (bound, none, one) = (simd.splat_f64s(self.bound), simd.splat_f64s(0.0), simd.splat_f64s(1.0));
        for (square, outside) in squares.iter().zip(outside) {
            let inside = simd.less_than_or_equal_f64s(*square, bound); // false for a NaN
            *outside = simd.add_f64s(*outside, simd.select_f64s(inside, none, one));
        }
    }

    #[inline(always)]
    fn total(&self, [one, two, three, four]: [S::f64s; GROUP]) -> f64 {
        let simd = self.simd;
        simd.reduce_sum_f64s(simd.add_f64s(simd.add_f64s(one, two), simd.add_f64s(three, four)))
    }

    /// Replaces squared norms by factors; returns whether all of them are finite.
    #[inline(always)]
    pub(super) fn shorten(&self, squares: &mut [f64]) -> bool {
        let mut finite = Finite::new(self.simd);
        for squares in S::as_mut_simd_f64s(squares).0.as_chunks_mut().0 {
            finite.look(squares);
            *squares = self.factors(squares);
        }
        finite.all()
    }

    /// Factors of gradients with these squared norms. They wait for each other only within a register.
    #[inline(always)]
    fn factors(&self, squares: &[S::f64s; GROUP]) -> [S::f64s; GROUP] {
        let (simd, mut guesses) = (self.simd, *squares);
        for bits in bytemuck::cast_slice_mut::<S::f64s, u64>(&mut guesses) {
            *bits = INVERSE_ROOT.wrapping_sub(*bits >> 1);
        }
        let mut rests = guesses;
        for (rest, square) in rests.iter_mut().zip(squares) {
            let product = simd.mul_f64s(simd.neg_f64s(*square), *rest);
            *rest = simd.mul_add_e_f64s(product, *rest, simd.splat_f64s(1.0));
        }
        let mut sums = [simd.splat_f64s(self.series[6]); GROUP];
        for term in self.series[..6].iter().rev() {
            for (sum, rest) in sums.iter_mut().zip(&rests) {
                *sum = simd.mul_add_e_f64s(*sum, *rest, simd.splat_f64s(*term));
            }
        }
        let (bound, scale) = (simd.splat_f64s(self.bound), simd.splat_f64s(self.scale));
        for ((sum, guess), square) in sums.iter_mut().zip(&guesses).zip(squares) {
            // The comparison decides, not the smaller of the two: a term must not depend on whether others in its block are clipped.
            let inside = simd.less_than_or_equal_f64s(*square, bound);
            *sum = simd.select_f64s(inside, scale, simd.mul_f64s(*guess, *sum));
        }
        sums
    }

    /// Adds one coordinate of gradients, multiplied by their factors, to a total of whole steps for each lane.
    #[inline(always)]
    pub(super) fn add<T: Tiles<S>, F: Tiles<S>>(
        &self,
        (tiles, coordinate): (&T, usize),
        factors: &F,
        registers: usize,
        total: &mut S::u64s,
    ) {
        let simd = self.simd;
        // Each register adds the bits of ROUND too.
        let surplus = ROUND.to_bits().wrapping_mul(registers as u64);
        let mut sum = simd.add_u64s(*total, simd.splat_u64s(surplus.wrapping_neg()));
        for place in 0..registers / GROUP {
            let terms = self.terms(tiles.tile(coordinate, place), &factors.tile(0, place));
            sum = simd.add_u64s(sum, terms);
        }
        *total = sum;
    }

    /// Adds all coordinates of gradients, one after the other.
    #[inline(always)]
    pub(super) fn add_all<T: Tiles<S>, F: Tiles<S>>(
        &self,
        tiles: &T,
        factors: &F,
        registers: usize,
        totals: &mut [S::u64s],
    ) {
        for (coordinate, total) in totals.iter_mut().enumerate() {
            self.add((tiles, coordinate), factors, registers, total);
        }
    }

    /// Adds gradients of a few coordinates in one walk, as if none were clipped or with the factors of all. Returns how many are outside the bound, or adds
    /// nothing and returns none if that was not the right way or a norm is not finite.
    #[inline(always)]
    pub(super) fn add_few<const D: usize, const CLIP: bool, T: Tiles<S>>(
        &self,
        tiles: &T,
        registers: usize,
        totals: &mut [S::u64s; D],
    ) -> Option<f64> {
        let simd = self.simd;
        let surplus = ROUND.to_bits().wrapping_mul(registers as u64);
        let mut sums = [simd.splat_u64s(surplus.wrapping_neg()); D];
        let (mut outside, mut finite) = ([simd.splat_f64s(0.0); GROUP], Finite::new(simd));
        for place in 0..registers / GROUP {
            let mut gradients = [[simd.splat_f64s(0.0); GROUP]; D];
            let mut squares = [simd.splat_f64s(0.0); GROUP];
            for (coordinate, gradient) in gradients.iter_mut().enumerate() {
                *gradient = tiles.tile(coordinate, place);
                self.add_squares(*gradient, &mut squares);
            }
            self.count(&squares, &mut outside);
            let factors = if CLIP {
                finite.look(&squares);
                self.factors(&squares)
            } else {
                [simd.splat_f64s(self.scale); GROUP]
            };
            for (gradient, sum) in gradients.into_iter().zip(&mut sums) {
                *sum = simd.add_u64s(*sum, self.terms(gradient, &factors));
            }
        }
        let outside = self.total(outside);
        let right = if CLIP { finite.all() } else { outside == 0.0 };
        right.then(|| {
            totals.iter_mut().zip(sums).for_each(|(total, sum)| *total = simd.add_u64s(*total, sum));
            outside
        })
    }

    /// The factors of gradients of which none is clipped.
    #[inline(always)]
    pub(super) fn whole(&self) -> Constant<S> {
        Constant(self.simd.splat_f64s(self.scale))
    }

    /// The sum of one group's terms, each with the bits of ROUND.
    #[inline(always)]
    fn terms(&self, values: [S::f64s; GROUP], factors: &[S::f64s; GROUP]) -> S::u64s {
        let simd = self.simd;
        let mut sum = simd.splat_u64s(0);
        for (value, factor) in values.into_iter().zip(factors) {
            // The last bits of the sum with ROUND are the rounded product, fused or not.
            let rounded = simd.mul_add_e_f64s(value, *factor, simd.splat_f64s(ROUND));
            sum = simd.add_u64s(sum, simd.transmute_u64s_f64s(rounded));
        }
        sum
    }
}

/// Whether all numbers that it looked at are finite.
struct Finite<S: Simd> {
    simd: S,
    so_far: [S::m64s; GROUP],
}

impl<S: Simd> Finite<S> {
    #[inline(always)]
    fn new(simd: S) -> Self {
        let none = simd.splat_f64s(0.0);
        Self { simd, so_far: [simd.equal_f64s(none, none); GROUP] }
    }

    #[inline(always)]
    fn look(&mut self, values: &[S::f64s; GROUP]) {
        let infinity = self.simd.splat_f64s(f64::INFINITY);
        for (so_far, value) in self.so_far.iter_mut().zip(values) {
            let finite = self.simd.less_than_f64s(*value, infinity); // false for a NaN
            *so_far = self.simd.and_m64s(*so_far, finite);
        }
    }

    #[inline(always)]
    fn all(self) -> bool {
        let simd = self.simd;
        let [one, two, three, four] = self.so_far;
        let all = simd.and_m64s(simd.and_m64s(one, two), simd.and_m64s(three, four));
        simd.reduce_sum_f64s(simd.select_f64s(all, simd.splat_f64s(0.0), simd.splat_f64s(1.0))) == 0.0
    }
}
