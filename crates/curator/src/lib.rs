//! The only code that sees a table.
//!
//! A [`Request`](mechanism::Request) of public knowledge becomes a [`Plan`](mechanism::Plan) without reading data; a
//! [`Job`](job::Job) reads the table in one pass of exact integer sums, charges the ledger, adds discrete noise from the
//! operating system's entropy and writes a release. [`counts`] and [`randomised`] do the same for contingency tables and for
//! randomised answers, [`private_bounds`] for bounds that nobody knows. Nothing else leaves this crate but [`non_private`] sums, which are
//! for comparison beside the table and cannot become a release.

pub mod bounds;
pub mod chains;
mod clamping;
pub mod counts;
pub mod defaults;
mod error;
pub mod fingerprint;
pub mod formula;
pub mod gram;
pub mod job;
pub mod ledger;
pub mod measure;
pub mod mechanism;
mod non_private;
pub mod output;
pub mod policy;
pub mod private_bounds;
mod publishable;
pub mod randomised;
mod sums;
pub mod table;

pub use clamping::{ClampedColumn, Clamping, Shrinking, clamping};
pub use error::CuratorError;
pub use non_private::{NonPrivate, Weighted, non_private};
pub use publishable::Publishable;
pub use sums::Measured;
