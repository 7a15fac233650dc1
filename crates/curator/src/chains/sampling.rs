//! Poisson samples of records: each is in the sample with the same probability, on its own.
//!
//! **Exactness.** The probability is a multiple of 2^-64, the rate rounded down, and the draw has exactly it: a record's random
//! number of 64 bits is compared with the threshold byte by byte, and further bytes are drawn only while the bytes are equal.
//! Skipping from sampled record to sampled record by logarithms would be faster and wrong by about 2^-53 for each, which a
//! delta of 1e-6 over a hundred million draws would notice.

use rand::Rng;
use rand_distr::{Distribution, Exp1};

/// Bytes that are drawn at once.
const CHUNK: usize = 4096;

/// A probability as a number of 64 bits.
pub(super) fn threshold(rate: f64) -> u64 {
    // A rate below 1 times 2^64 is exact and fits.
    (rate * 18_446_744_073_709_551_616.0) as u64
}

/// Replaces `chosen` by a sample of the records `0..rows`, in order.
pub(super) fn draw_sample(rows: u32, threshold: u64, rng: &mut impl Rng, chosen: &mut Vec<u32>) {
    chosen.clear();
    let first = (threshold >> 56) as u8;
    let mut bytes = [0u8; CHUNK];
    for start in (0..rows).step_by(CHUNK) {
        let bytes = &mut bytes[..CHUNK.min((rows - start) as usize)];
        rng.fill_bytes(bytes);
        for (group, offset) in bytes.chunks(32).zip((start..).step_by(32)) {
            // Most groups of a small rate hold no candidate, which a register sees at once, and so do most parts of the others.
            if !any_at_most(group, first) {
                continue;
            }
            for (part, offset) in group.chunks(8).zip((offset..).step_by(8)) {
                if !any_at_most(part, first) {
                    continue;
                }
                for (byte, row) in part.iter().zip(offset..) {
                    if *byte < first || (*byte == first && is_below(threshold, rng)) {
                        chosen.push(row);
                    }
                }
            }
        }
    }
}

fn any_at_most(bytes: &[u8], limit: u8) -> bool {
    bytes.iter().fold(false, |any, byte| any | (*byte <= limit))
}

/// The same for made-up records, faster and good enough for them: the gaps between chosen records are geometric, exponential variables
/// rounded down.
pub(super) fn rehearse_sample(rows: u32, rate: f64, rng: &mut impl Rng, chosen: &mut Vec<u32>) {
    chosen.clear();
    let mean = -1.0 / libm::log1p(-rate);
    let mut row = 0u64;
    loop {
        let gap: f64 = Exp1.sample(rng);
        // A conversion rounds down. Only whole numbers are added up, so that one gap need not wait for the last.
        row = row.saturating_add((mean * gap) as u64);
        if row >= u64::from(rows) {
            return;
        }
        chosen.push(row as u32);
        row += 1;
    }
}

/// Compares the remaining 56 bits of a record's number with those of the threshold.
fn is_below(threshold: u64, rng: &mut impl Rng) -> bool {
    let rest = (1u64 << 56) - 1;
    rng.next_u64() & rest < threshold & rest
}
