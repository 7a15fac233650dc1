//! Seeds: from names, so that shards agree with the whole and new cells do not move old ones.

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

/// The seed of one replicate of a cell.
pub fn seed(master: u64, key: &str, cell: &str, replicate: u64) -> u64 {
    // FNV-1a over all parts with separators, then the finaliser of SplitMix64 so that similar names part.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut mix = |bytes: &[u8]| {
        for byte in bytes.iter().chain(&[0xff]) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    mix(&master.to_le_bytes());
    mix(key.as_bytes());
    mix(cell.as_bytes());
    mix(&replicate.to_le_bytes());
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// A generator for one purpose of a replicate: different streams of one seed never overlap.
pub fn generator(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Catches parts that run into each other ("a" + "bc" against "ab" + "c") and a replicate or seed that is ignored.
    #[test]
    fn every_part_counts() {
        let mut seen = HashSet::new();
        for (key, cell) in [("a", "bc"), ("ab", "c"), ("abc", ""), ("a", "b c")] {
            for replicate in 0..500 {
                for master in [0, 1, 2] {
                    assert!(seen.insert(seed(master, key, cell, replicate)));
                }
            }
        }
    }

    /// A changed number changes every result of every experiment.
    #[test]
    fn the_numbers_are_pinned() {
        assert_eq!(seed(1, "ayb23-table1", "PowerPlant J=1", 1), 903_870_284_608_830_430);
    }
}
