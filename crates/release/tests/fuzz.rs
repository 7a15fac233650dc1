//! Bounded byte-level fuzzing: any bytes give an error or valid releases, never a panic.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod common;
#[path = "common/tables.rs"]
#[allow(dead_code, reason = "each test uses some of it")]
mod tables;

use organza_release::{CountRelease, Document, RandomisedRelease, kind_of, read_many};
use proptest::prelude::*;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

const TOKENS: [&str; 14] = [
    "null", "-1", "1e308", "1e-400", "[]", "{}", "\"\"", "[0,0]", "true", "\u{fffd}", ",", ":", "\\u0000",
    "9e99",
];

/// One to four random edits: flip a byte, delete or repeat a stretch, or put a token somewhere.
fn mutate(bytes: &mut Vec<u8>, rng: &mut ChaCha8Rng) {
    for _ in 0..rng.random_range(1..=4) {
        let at = rng.random_range(0..bytes.len());
        let end = (at + rng.random_range(1..40)).min(bytes.len());
        match rng.random_range(0..4) {
            0 => bytes[at] ^= 1 << rng.random_range(0..8),
            1 => drop(bytes.drain(at..end)),
            2 => drop(bytes.splice(at..at, bytes[at..end].to_vec())),
            _ => drop(bytes.splice(at..end, TOKENS[rng.random_range(0..TOKENS.len())].bytes())),
        }
        if bytes.is_empty() {
            bytes.push(b'{');
        }
    }
}

#[test]
fn mutated_releases_never_panic_and_survivors_are_valid() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let originals = [
        common::scaled_box(),
        common::ball(),
        common::averaged(),
        common::ada_ssp(),
        common::fourth_moments(),
    ];
    let originals = originals.map(|release| release.to_json_line().unwrap());
    let mut survivors = 0;
    for round in 0..60_000 {
        let mut bytes = originals[round % originals.len()].clone().into_bytes();
        mutate(&mut bytes, &mut rng);
        for release in read_many(&bytes, "fuzz").unwrap_or_default() {
            survivors += 1;
            let text = release.to_json().expect("what was read can be written");
            assert_eq!(read_many(text.as_bytes(), "again").unwrap(), [release]);
        }
    }
    assert!(survivors > 100, "the mutations must not all be refused by syntax alone: {survivors}");
}

/// What survives a mutation reads back as itself.
fn survivors<D: Document + PartialEq + std::fmt::Debug>(original: &D, rng: &mut ChaCha8Rng) -> usize {
    let original = original.to_json_line().unwrap().into_bytes();
    let mut survivors = 0;
    for _ in 0..10_000 {
        let mut bytes = original.clone();
        mutate(&mut bytes, rng);
        let _ = kind_of(&bytes);
        for release in D::read_many(&bytes, "fuzz").unwrap_or_default() {
            survivors += 1;
            let text = release.to_json().expect("what was read can be written");
            assert_eq!(D::read_many(text.as_bytes(), "again").unwrap(), [release]);
        }
    }
    survivors
}

#[test]
fn mutated_counts_and_answers_never_panic_and_survivors_are_valid() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let counts = [tables::counts(), tables::confidential(), tables::gaussian()];
    let found: usize = counts.iter().map(|release| survivors(release, &mut rng)).sum();
    assert!(found > 100, "{found}");
    let found = survivors(&tables::randomised(), &mut rng);
    assert!(found > 20, "{found}");
}

proptest! {
    #[test]
    fn reading_back_what_was_written_is_the_identity(
        values in proptest::collection::vec(prop_oneof![-1.0..1.0, proptest::num::f64::SUBNORMAL], 10),
        powers in proptest::collection::vec(-119..119, 10),
        epsilon in 1e-300..1e300f64,
        party in "[a-z\\p{L}\"\\\\ ]{0,12}x",
        records in 1..=organza_release::MOST_RECORDS,
    ) {
        let mut release = common::scaled_box();
        release.noise.scales = powers.iter().zip(&values).map(|(power, x)| 2_f64.powi(*power) * (1.5 + x / 4.0)).collect();
        release.value = values.iter().zip(&release.noise.scales).map(|(value, scale)| value * scale).collect();
        release.privacy.epsilon = epsilon;
        (release.party, release.records) = (party, Some(records));
        for text in [release.to_json().unwrap(), release.to_json_line().unwrap()] {
            prop_assert_eq!(&read_many(text.as_bytes(), "again").unwrap()[0], &release);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_many(&bytes, "fuzz");
        let _ = CountRelease::read_many(&bytes, "fuzz");
        let _ = RandomisedRelease::read_many(&bytes, "fuzz");
        let _ = kind_of(&bytes);
    }
}
