//! Sums and noise on a lattice: the penalty method needs Gaussian noise, and floating-point Gaussian noise leaks (Mironov 2012).
//!
//! **What is done.** Lengths are counted in steps of 2^-30 of the clip bound. A record's clipped term is rounded to whole steps
//! inside a radius that is smaller by half a diagonal of a cell, so its norm is at most 2^30 steps whatever the rounding of
//! floating-point numbers did; sums of them are exact integers, the same in any order and on any number of threads. Noise is
//! an integer too, from the exact discrete Gaussian sampler.
//!
//! **What is claimed.** The released integer has the law of (sum + continuous Gaussian noise) rounded to the lattice, which is post-processing of
//! the Gaussian mechanism, up to a total variation of 0.0202 / S^2 with S the standard deviation in steps. That is charged
//! to delta (below 1e-17 for a noise of one clip bound). For the chain the same number says how far the noise of the acceptance test is from
//! the Gaussian that the penalty term is exact for; rounding the terms themselves moves a sum over n records by about sqrt(n) 2^-31 clip bounds.

/// Bits of the lattice: a clip bound is 2^30 steps.
pub(super) const BITS: u32 = 30;
/// Steps in a clip bound.
pub(super) const STEPS: f64 = (1u64 << BITS) as f64;

/// Adding and subtracting this rounds a number below 2^51 to the nearest integer, in any register.
pub(super) const ROUND: f64 = 6_755_399_441_055_744.0;

/// The radius, in steps, inside of which a term may be rounded to the nearest point without leaving the ball of [`STEPS`].
pub(super) fn limit(dimension: usize) -> f64 {
    // One step more than half a diagonal covers the rounding of the norm and of the quotient.
    STEPS - 0.5 * libm::sqrt(dimension as f64) - 1.0
}

/// The standard deviation of the noise in steps: never less than asked for.
pub(super) fn noise_steps(noise: f64) -> u128 {
    (noise * STEPS).ceil() as u128
}

/// The weight of a clipped record's indicator in steps: never more than asked for.
pub(super) fn indicator_steps(weight: f64) -> i64 {
    (weight * STEPS) as i64
}
