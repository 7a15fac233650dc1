//! Working memory of a pass, so that a step allocates nothing.

use super::aligned::Aligned;
use super::records::BLOCK;

/// Lanes of the widest register.
const LANES: usize = 8;

/// Working memory of one thread.
#[derive(Debug)]
pub(super) struct Scratch {
    /// Gradients, or the log ratios in the first [`BLOCK`] places.
    pub(super) values: Aligned,
    /// Squared norms of gradients, and then their factors.
    pub(super) squares: Aligned,
    /// Weights of gradients, or room for the other ends of log ratios.
    pub(super) weights: Aligned,
    /// The last coordinate of weighted gradients.
    pub(super) last: Aligned,
    /// One number for each coordinate, the same for all records.
    pub(super) constants: Vec<f64>,
    /// Sums of a run of blocks: for each coordinate as many as a register has lanes.
    pub(super) lanes: Vec<u64>,
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
            squares: Aligned::zeros(BLOCK),
            weights: Aligned::zeros(BLOCK),
            last: Aligned::zeros(BLOCK),
            constants: vec![0.0; dimension],
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
