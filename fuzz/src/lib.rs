//! Everything that reads a stranger's bytes, as functions of any bytes at all: they must not panic, and end soon in little memory.
//!
//! A fuzzer calls them (`cargo fuzz run --features libfuzzer release`), and tests replay what fuzzers found in `corpus/`. Where
//! something is to be chosen besides the file, a method for instance, the first byte chooses it. Each says whether the bytes were
//! of any use; what is of use keeps some promises, which are checked too.
#![forbid(unsafe_code)]

pub mod edit;
mod releases;
mod tables;
mod texts;

pub use releases::{counts, randomised, release};
pub use tables::{csv, fit_folder, parquet};
pub use texts::{bounds, formula, prior};

use organza_mcmc::Plan;

/// A function of any bytes.
pub type Target = fn(&[u8]) -> bool;

/// All targets, by the names of their folders in `corpus/`.
pub const TARGETS: [(&str, Target); 9] = [
    ("release", release),
    ("counts", counts),
    ("randomised", randomised),
    ("bounds", bounds),
    ("prior", prior),
    ("formula", formula),
    ("csv", csv),
    ("parquet", parquet),
    ("fit_folder", fit_folder),
];

/// Five steps and five draws.
const PLAN: Plan = Plan { chains: 2, warmup: 5, draws: 5, thin: 1, seed: 1, threads: 1 };

/// Takes a choice out of a number that has room for several.
fn pick<T: Copy>(number: &mut usize, choices: &[T]) -> T {
    let choice = choices[*number % choices.len()];
    *number /= choices.len();
    choice
}

/// A fuzzer of one target.
#[cfg(feature = "libfuzzer")]
#[macro_export]
macro_rules! fuzz_bytes {
    ($target:ident) => {
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
            $crate::$target(bytes);
        });
    };
}

/// A fuzzer of one target of which every other change keeps a document a document.
#[cfg(feature = "libfuzzer")]
#[macro_export]
macro_rules! fuzz_documents {
    ($target:ident) => {
        $crate::fuzz_bytes!($target);

        libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
            let edited =
                if seed % 2 == 0 { $crate::edit::in_place(data, size, most, seed / 2) } else { None };
            edited.unwrap_or_else(|| libfuzzer_sys::fuzzer_mutate(data, size, most))
        });
    };
}
