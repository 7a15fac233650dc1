//! Bayesian inference under differential privacy.
//!
//! This crate is the facade, and what the `organza` command can do. Beside a table, [`BesideTable`] names the party and the
//! ledger and makes a [`Job`], which publishes what a [`Request`] asks for; [`PrivateChains`] sample where no statistic
//! suffices. An analyst reads a [`ReleaseSet`], calls [`fit()`], keeps the [`Fit`] in a [`FitFolder`] and predicts with the
//! [`SavedFit`]. `examples/hospital.rs` and `examples/chains.rs` do all of it.
//!
//! The parts are whole below: [`release`] is the contract between data holders and analysts; [`curator`] is the only part
//! that sees a table; [`infer`] goes from releases to a posterior; [`mcmc`] runs its chains and keeps their draws.

pub mod beside_table;
mod chain_fit;
mod error;
pub mod fit_folder;
pub mod non_private;
pub mod prediction;
pub mod private_chains;
pub mod releases;
pub mod result_folder;

pub use beside_table::{BesideTable, LedgerChoice, Paid};
pub use error::Error;
pub use fit_folder::{FitFolder, SavedFit, Settings};
pub use non_private::{NonPrivate, non_private};
pub use prediction::{Predictions, Scores};
pub use private_chains::{ChainFit, PrivateChains};
pub use releases::ReleaseSet;

pub use organza_curator::bounds::Bounds;
pub use organza_curator::chains::{ChainDesign, ChainMethod, ChainModel, ChainPlan};
pub use organza_curator::counts::{CountPlan, CountRequest, parse_tables};
pub use organza_curator::job::{Job, Outcome};
pub use organza_curator::ledger::{Account, Ledger};
pub use organza_curator::mechanism::{Plan as ReleasePlan, Request};
pub use organza_curator::randomised::{Per, RandomisedPlan, RandomisedRequest};
pub use organza_curator::table::{Input, ReadOptions, Reading};
pub use organza_infer::{
    Fit, Method, MethodSpec, Model, ModelSpec, Prediction, PriorFile, Releases, Sampler, fit,
};
pub use organza_mcmc::{Draws, Monitor, Plan, Summary};
pub use organza_release::{CountRelease, Missing, Neighbours, RandomisedRelease, Release};

pub use organza_curator as curator;
pub use organza_infer as infer;
pub use organza_mcmc as mcmc;
pub use organza_release as release;

/// The README's example is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadmeExample;
