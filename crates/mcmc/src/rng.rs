//! The random numbers of a chain.
//!
//! **Algorithm.** ChaCha with 8 rounds, fixed for good: the same seed gives the same numbers on every machine
//! and in every version. The 32 bytes of the key are the seed (8 bytes, little-endian) and a tag of 24 bytes
//! that says what the numbers are for, so that no other use of the same seed sees the same numbers.
//!
//! | generator | tag | stream |
//! | --- | --- | --- |
//! | chain c, [`ChainRng::new`] | `organza-mcmc/chain-rng/1` | c 2^32 |
//! | block b of chain c, [`ChainRng::block`] | `organza-mcmc/block-rng/1` | c 2^32 + b |
//!
//! Streams of one key never overlap, so all pairs (chain, block) are independent, and results do not depend
//! on which thread takes which block.
//!
//! **No conversions.** A `ChainRng` comes from a seed and from nothing else, and its inner generator cannot
//! be taken out: numbers that protect people must never come from a seed, and the types keep the two apart.
//!
//! ```compile_fail
//! use rand::SeedableRng;
//! let rng = organza_mcmc::ChainRng::seed_from_u64(1); // it is not a SeedableRng
//! ```

use std::convert::Infallible;

use rand::rngs::ChaCha8Rng;
use rand::{SeedableRng, TryRng};

const CHAIN_TAG: &[u8; 24] = b"organza-mcmc/chain-rng/1";
const BLOCK_TAG: &[u8; 24] = b"organza-mcmc/block-rng/1";

/// A seeded generator with one stream for each chain, and one for each block of work inside a chain.
///
/// It cannot be cloned: a copy would give the same numbers twice.
#[derive(Debug, PartialEq, Eq)]
pub struct ChainRng {
    generator: ChaCha8Rng,
    seed: u64,
    chain: u32,
}

impl ChainRng {
    /// The generator of a chain; chains count from 0.
    pub fn new(seed: u64, chain: u32) -> Self {
        Self { generator: stream(seed, CHAIN_TAG, u64::from(chain) << 32), seed, chain }
    }

    /// The generator of a block of work of this chain, at its beginning, wherever `self` is.
    ///
    /// A kernel that works on blocks in parallel takes one for each block in `init` and keeps them in its
    /// state: asking again for the same block would give the same numbers again.
    pub fn block(&self, block: u32) -> Self {
        let number = u64::from(self.chain) << 32 | u64::from(block);
        Self { generator: stream(self.seed, BLOCK_TAG, number), seed: self.seed, chain: self.chain }
    }
}

fn stream(seed: u64, tag: &[u8; 24], number: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..].copy_from_slice(tag);
    let mut generator = ChaCha8Rng::from_seed(key);
    generator.set_stream(number);
    generator
}

/// Gives [`rand::Rng`] and [`rand::RngExt`].
impl TryRng for ChainRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.generator.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.generator.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.generator.try_fill_bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;
    use rand::Rng;

    use super::*;

    fn first(mut rng: ChainRng) -> [u64; 2] {
        [rng.next_u64(), rng.next_u64()]
    }

    /// Expected values: the first 32 bytes of each key stream, from a ChaCha of 30 lines in Python written
    /// for this test. A change here changes every draw of every method: say so in the changelog.
    #[test]
    fn the_numbers_are_pinned() {
        assert_eq!(first(ChainRng::new(0, 0)), [0xa6068ee275f26636, 0x5df044df398da844]);
        assert_eq!(first(ChainRng::new(42, 3)), [0xd3a6e794bf3bd94f, 0xf388b37d64828359]);
        assert_eq!(first(ChainRng::new(42, 3).block(7)), [0x522091778ee7c2d2, 0x5f7ee47f79155b9c]);
        assert_eq!(
            first(ChainRng::new(u64::MAX, u32::MAX).block(u32::MAX)),
            [0xc5baa71b19784e02, 0x56a2e6fa6e44a331]
        );
    }

    #[test]
    fn streams_are_distinct() {
        let mut seen = HashSet::new();
        let numbers = || (0..20).chain([u32::MAX - 1, u32::MAX]);
        for seed in [0, 1, 2, 1 << 32, u64::MAX] {
            for chain in numbers() {
                let rng = ChainRng::new(seed, chain);
                assert!(seen.insert(first(ChainRng::new(seed, chain))), "seed {seed}, chain {chain}");
                for block in numbers() {
                    assert!(
                        seen.insert(first(rng.block(block))),
                        "seed {seed}, chain {chain}, block {block}"
                    );
                }
            }
        }
        assert_eq!(seen.len(), 5 * 22 * 23);
    }

    proptest! {
        #[test]
        fn any_two_streams_differ(seed: u64, one: (u32, u32), other: (u32, u32)) {
            prop_assume!(one != other);
            let of = |(chain, block)| first(ChainRng::new(seed, chain).block(block));
            prop_assert_ne!(of(one), of(other));
        }

        #[test]
        fn a_block_starts_at_its_beginning(seed: u64, chain: u32, block: u32, used in 0..100_usize) {
            let mut rng = ChainRng::new(seed, chain);
            let fresh = first(rng.block(block));
            (0..used).for_each(|_| _ = rng.next_u32());
            prop_assert_eq!(first(rng.block(block)), fresh);
        }
    }
}
