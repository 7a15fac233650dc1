//! Private chains beside the data, for models of which no statistic suffices.
//!
//! The data holder runs the chain; each step asks the records a few clipped, noised questions and pays for them. What comes
//! out, draws and step statistics, is private as a whole and may be published. \[RKH21\], with its errata.
//!
//! [`StepQueries`] says what a step asks, [`Allowance`] how many steps a budget covers, [`PrivateOracle`] holds the records and answers,
//! [`kernels`] ask, and [`organza_mcmc::run`] drives them like any other method. [`models`] are ready-made; a model of one's own implements
//! [`RecordModel`].
//!
//! For regressions on a table all of that follows from a [`ChainRequest`]: [`ChainDesign`] compiles the formula and reads the table, [`ChainPlan`] turns a
//! budget into steps, noise and step sizes, [`rehearse`] tries them on made-up records at no cost, and [`sample`](fn@sample) runs them.
//!
//! **Randomness.** Noise and samples of records come from the operating system. The chain's own generator makes proposals and decides acceptance, which is
//! post-processing and may be seeded: privacy does not rest on it. So two runs with one seed differ.

mod aligned;
mod clipper;
mod effective;
mod gradient_sum;
mod guess;
pub mod kernels;
mod lattice;
mod load;
mod model;
pub mod models;
mod oracle;
mod pass;
mod pilot;
mod plan;
mod products;
mod queries;
mod records;
mod rehearsal;
mod request;
mod sample;
mod sampling;
mod scratch;
mod settings;
mod shape;
mod shifted;
#[cfg(test)]
mod tests;
mod weighted;
mod words;
mod written;

pub use effective::LEAST_EFFECTIVE_DRAWS;
pub use gradient_sum::GradientSum;
pub use guess::Guess;
pub use load::ChainDesign;
pub use model::{RecordModel, Simulate};
pub use oracle::{LogRatio, Permit, PrivateOracle};
pub use pilot::Pilot;
pub use plan::{ChainKernel, ChainPlan};
pub use products::Products;
pub use queries::{Allowance, Budget, COUNT_WEIGHT, GradientQuery, RatioQuery, StepQueries};
pub use records::{BLOCK, Block, Gradients, Records};
pub use rehearsal::{MOST_RECORDS, Rehearsal, Trial, mean_statistic, rehearse};
pub use request::{ChainRequest, Tuning};
pub use sample::sample;
pub use settings::ChainSettings;
pub use weighted::WeightedForm;
pub use words::{ChainMethod, ChainModel};
