//! Helpers of the statistical tests: every verdict is a p-value or a confidence bound at [`ALPHA`].

pub mod attack;
pub mod audit;
pub mod binomial;
pub mod goodness;
pub mod models;

/// Error probability of a whole test with fixed seeds, shared among its comparisons by Bonferroni. Such a test is
/// decided once and for all: this was the chance that a sound method would be called wrong when it was written.
pub const ALPHA: f64 = 1e-6;

/// The same of a test that draws fresh noise of the operating system. There are fewer than fifty verdicts of this kind
/// in all tests, so that a run fails by chance less than once in 10^6. Outside of this crate such draws are asserted
/// only where chance has no part in the outcome, or less than 10^-9 of it, and in the curator's tests of its samplers,
/// 10^-8.
pub const FRESH_ALPHA: f64 = 1e-8;
