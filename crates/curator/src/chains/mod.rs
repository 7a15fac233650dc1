//! Private chains beside the data, for models of which no statistic suffices.
//!
//! The data holder runs the chain; each step asks the records a few clipped, noised questions and pays for them. What comes
//! out, draws and step statistics, is private as a whole and may be published. \[RKH21\], with its errata.
//!
//! [`StepQueries`] says what a step asks, [`Allowance`] how many steps a budget covers, [`PrivateOracle`] holds the records and answers,
//! [`kernels`] ask, and [`organza_mcmc::run`] drives them like any other method. [`models`] are ready-made; a model of one's own implements
//! [`RecordModel`].
//!
//! **Randomness.** Noise and samples of records come from the operating system. The chain's own generator makes proposals and decides acceptance, which is
//! post-processing and may be seeded: privacy does not rest on it. So two runs with one seed differ.

pub mod kernels;
mod lattice;
mod model;
pub mod models;
mod oracle;
mod pass;
mod queries;
mod records;
mod sampling;
#[cfg(test)]
mod tests;

pub use model::{RecordModel, Simulate};
pub use oracle::{LogRatio, Permit, PrivateOracle};
pub use queries::{Allowance, Budget, COUNT_WEIGHT, GradientQuery, RatioQuery, StepQueries};
pub use records::{BLOCK, Block, Gradients, Records};
