//! Bayesian inference under differential privacy.
//!
//! This crate is the facade: it re-exports the parts of Organza under one roof and holds the `organza` command.
//! [`release`] is the contract between data holders and analysts; [`curator`] is the only part that sees a table;
//! [`infer`] goes from releases to a posterior; [`mcmc`] runs its chains and keeps their draws.

pub mod beside_table;
mod chain_fit;
mod error;
pub mod fit_folder;
pub mod non_private;
pub mod prediction;
pub mod private_chains;
pub mod result_folder;

pub use error::Error;
pub use organza_curator as curator;
pub use organza_infer as infer;
pub use organza_mcmc as mcmc;
pub use organza_release as release;

/// The README's example is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadmeExample;
