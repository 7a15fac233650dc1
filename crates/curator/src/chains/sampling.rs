//! Poisson samples of records: each is in the sample with the same probability, on its own.
//!
//! **Exactness.** The probability is a multiple of 2^-64, the rate rounded down, and the draw has exactly it: a record's random
//! number of 64 bits is compared with the threshold byte by byte, and further bytes are drawn only while the bytes are equal.
//! Skipping from sampled record to sampled record by logarithms would be faster and wrong by about 2^-53 for each, which a
//! delta of 1e-6 over a hundred million draws would notice.

use std::f64::consts::{LN_2, SQRT_2};

use pulp::Arch;
use rand::Rng;

/// Bytes that are drawn at once.
const CHUNK: usize = 4096;
/// Gaps that are drawn at once.
const GAPS: usize = 128;

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

/// The same for made-up records, faster and good enough for them: the gaps between chosen records are geometric, exponential variables rounded
/// down, and good to 32 bits.
pub(super) fn rehearse_sample(
    architecture: Arch,
    (rows, rate): (u32, f64),
    rng: &mut impl Rng,
    chosen: &mut Vec<u32>,
) {
    chosen.clear();
    let mean = -1.0 / libm::log1p(-rate);
    let (mut bytes, mut gaps) = ([0; 4 * GAPS], [0; GAPS]);
    let mut row = 0;
    loop {
        rng.fill_bytes(&mut bytes);
        architecture.dispatch(
            #[inline(always)]
            || draw_gaps(&bytes, mean, &mut gaps),
        );
        for gap in gaps {
            row += gap;
            if row >= u64::from(rows) {
                return;
            }
            chosen.push(row as u32);
            row += 1;
        }
    }
}

/// Exponential variables with this mean, rounded down, one for each four bytes. No branches, so that registers are filled.
#[inline(always)]
fn draw_gaps(bytes: &[u8; 4 * GAPS], mean: f64, gaps: &mut [u64; GAPS]) {
    const WHOLE: f64 = 4_503_599_627_370_496.0; // 2^52: from here on numbers are whole
    const MANTISSA: u64 = (1 << 52) - 1;
    for (bytes, gap) in bytes.as_chunks::<4>().0.iter().zip(gaps) {
        let uniform = (f64::from(u32::from_le_bytes(*bytes)) + 0.5) / 4_294_967_296.0;
        // The logarithm of 2^k m is k ln 2 + ln sqrt(2) + 2 atanh(t), and here |t| < 0.172.
        let exponent = f64::from_bits((uniform.to_bits() >> 52) | WHOLE.to_bits()) - (WHOLE + 1023.0);
        let mantissa = f64::from_bits((uniform.to_bits() & MANTISSA) | 1f64.to_bits());
        let t = (mantissa - SQRT_2) / (mantissa + SQRT_2);
        let s = t * t;
        let series = 1.0 + s * (1.0 / 3.0 + s * (1.0 / 5.0 + s * (1.0 / 7.0 + s * (1.0 / 9.0 + s / 11.0))));
        let logarithm = (exponent + 0.5) * LN_2 + 2.0 * t * series;
        // Half a step down and to the nearest is down; the capped ones are beyond any table.
        let length = (mean * -logarithm).min(1e15) - 0.5;
        *gap = (length.max(0.0) + WHOLE).to_bits() & MANTISSA;
    }
}

/// Compares the remaining 56 bits of a record's number with those of the threshold.
fn is_below(threshold: u64, rng: &mut impl Rng) -> bool {
    let rest = (1u64 << 56) - 1;
    rng.next_u64() & rest < threshold & rest
}
