//! The machinery of reproductions, written once for all papers.
//!
//! [`run`] computes what is missing and keeps every finished replicate at once; [`publish`] writes the results, the picture, the
//! verdicts and the page; [`check`] recomputes the verdicts from kept results; [`summarise`] writes one page over all papers.

mod check;
mod error;
mod experiment;
mod files;
mod page;
mod publish;
mod report;
mod results;
mod runner;
mod store;
mod summary;

pub use check::{Change, check};
pub use error::ReproduceError;
pub use experiment::{About, Experiment, Seeds, Study, Variant};
pub use files::{Identity, Provenance};
pub use publish::{folder_of, publish};
pub use report::{Line, Published, Report, Table, Verdict, number};
pub use results::{Results, Row};
pub use runner::{Settings, Shard, run, stored};
pub use store::{Reading, read};
pub use summary::summarise;
