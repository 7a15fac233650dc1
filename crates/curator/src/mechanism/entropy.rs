//! Random bits from the operating system: no seed, and no generator of our own in between.
//!
//! A [`SystemBits`] is made for one draw and dropped after it. So nothing that was read before a fork is left to be used
//! after it by both processes: a fork copies the memory of a process but goes on only in the thread that called it, and
//! that thread is not inside a draw. A block kept between draws would have to compare the process id at every draw, a
//! call of the system like the one that it saves.

use std::hint::black_box;

/// Independent fair bits.
pub(crate) trait Bits {
    /// Consumes exactly `count` bits, at most 64, and gives them as the low bits of a number.
    fn bits(&mut self, count: u32) -> Result<u64, String>;
}

/// Bytes read at once: enough for most draws, and Linux gives so many about as fast as a single one.
const BLOCK: usize = 32;

/// The bits of one draw: read when they are asked for, wiped when they are used.
pub(crate) struct SystemBits {
    block: [u8; BLOCK],
    used: usize,
    pool: u128,
    held: u32,
}

impl SystemBits {
    /// Reads nothing yet.
    pub(crate) fn new() -> Self {
        Self { block: [0; BLOCK], used: BLOCK, pool: 0, held: 0 }
    }

    fn word(&mut self) -> Result<u64, String> {
        if self.used == BLOCK {
            getrandom::fill(&mut self.block).map_err(|error| error.to_string())?;
            self.used = 0;
        }
        let bytes = self.block[self.used..].iter_mut().take(8);
        self.used += 8;
        Ok(bytes.fold(0, |word, byte| word << 8 | u64::from(std::mem::take(byte))))
    }
}

impl Bits for SystemBits {
    fn bits(&mut self, count: u32) -> Result<u64, String> {
        if self.held < count {
            self.pool |= u128::from(self.word()?) << self.held;
            self.held += 64;
        }
        let taken = self.pool & ((1 << count) - 1);
        self.pool >>= count;
        self.held -= count;
        Ok(taken as u64)
    }
}

impl Drop for SystemBits {
    /// Wipes what was not used. The black box is there to keep the compiler from leaving this out.
    fn drop(&mut self) {
        (self.block, self.pool) = ([0; BLOCK], 0);
        black_box(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::process::Command;

    /// 64 words: two equal ones have probability below 2^-52.
    fn words() -> Vec<u64> {
        let mut bits = SystemBits::new();
        (0..64).map(|_| bits.bits(64).unwrap()).collect()
    }

    #[test]
    fn no_word_comes_twice_from_two_values() {
        let all: HashSet<u64> = words().into_iter().chain(words()).collect();
        assert_eq!(all.len(), 128);
    }

    #[test]
    #[ignore = "run in its own process by the next test"]
    fn prints_words() {
        println!("words {:?}", words());
    }

    #[test]
    fn no_word_comes_twice_from_two_processes() {
        let child = || {
            let test = concat!(module_path!(), "::prints_words").split_once("::").unwrap().1;
            let mut command = Command::new(std::env::current_exe().unwrap());
            let output = command.args([test, "--exact", "--ignored", "--nocapture"]).output().unwrap().stdout;
            let text = String::from_utf8(output).unwrap();
            let line = text.split_once("words [").unwrap().1.split_once(']').unwrap().0;
            line.split(", ").map(|word| word.parse::<u64>().unwrap()).collect::<Vec<_>>()
        };
        let all: HashSet<u64> = child().into_iter().chain(child()).collect();
        assert_eq!(all.len(), 128);
    }

    /// Every bit is used, once, whatever the sizes that are asked for: each of the 64 places is set half the time.
    #[test]
    fn each_bit_is_fair_and_none_is_lost() {
        let mut bits = SystemBits::new();
        for count in [1, 3, 64, 7, 33, 64, 63] {
            let mut ones = [0_u32; 64];
            for _ in 0..20_000 {
                let drawn = bits.bits(count).unwrap();
                assert!(count == 64 || drawn >> count == 0);
                (0..count as usize).for_each(|place| ones[place] += (drawn >> place & 1) as u32);
            }
            // 10,000 with a standard deviation of 71: beyond 7 of them once in 10^11.
            assert!(
                ones[..count as usize].iter().all(|ones| ones.abs_diff(10_000) < 500),
                "{count}: {ones:?}"
            );
        }
    }

    #[test]
    fn used_bytes_are_wiped() {
        let mut bits = SystemBits::new();
        bits.bits(64).unwrap();
        assert_eq!((bits.block[..8].iter().max(), bits.pool), (Some(&0), 0));
        assert!(bits.block[8..].iter().any(|&byte| byte != 0));
    }
}
