//! Step sizes that vary from step to step.

use organza_mcmc::ChainRng;
use rand::Rng;

/// The randomised Halton sequence in base 2 (Owen 2017): the bits of the index mirrored at the point, each permuted at
/// random once and for all, which for bits is an exclusive or.
#[derive(Debug)]
pub(super) struct Halton {
    index: u64,
    flipped: u64,
}

impl Halton {
    pub(super) fn new(rng: &mut ChainRng) -> Self {
        Self { index: 0, flipped: rng.next_u64() }
    }

    /// The next number in [0, 1).
    pub(super) fn next(&mut self) -> f64 {
        let bits = self.index.reverse_bits() ^ self.flipped;
        self.index += 1;
        (bits >> 11) as f64 * f64::EPSILON / 2.0
    }
}
