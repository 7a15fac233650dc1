//! The contract between the side that sees data and the side that infers.
//!
//! A [`Release`] says what was computed from a table, with what noise, at what privacy loss; a [`CountRelease`] holds
//! noisy contingency tables and a [`RandomisedRelease`] every record's randomised answers. They are the only
//! things that cross from a data holder to an analyst, so this crate knows nothing about tables and nothing
//! about samplers: it holds the types, their strict reading and writing, the arithmetic of privacy losses
//! ([`loss`]) and of sensitivities ([`sensitivity`]), and the change of units ([`units`]).

mod batch;
mod check;
mod claim;
mod counts;
mod document;
mod domain;
mod error;
pub mod loss;
mod noise;
mod printable;
mod privacy;
mod randomised;
mod read;
mod record;
mod release;
mod schema;
pub mod sensitivity;
mod statistic;
mod suggest;
#[cfg(feature = "testing")]
#[doc(hidden)]
pub mod testing;
pub mod units;
mod validate;
mod validate_statistic;

pub use batch::{Parties, batch_name};
pub use claim::Claim;
pub use counts::{
    COUNTS_SCHEMA, CountFamily, CountLaw, CountNoise, CountRelease, LevelColumn, MOST_CELLS, cell_levels,
    count_cells,
};
pub use document::{Document, Kind};
pub use domain::{BallDomain, BoxDomain, Column, Domain, Interval};
pub use error::ReleaseError;
pub use noise::{Family, Noise};
pub use printable::printable;
pub use privacy::{Neighbours, Norm, PrivacyLoss};
pub use randomised::{Answer, RANDOMISED_SCHEMA, RandomisedClaim, RandomisedRelease, randomised_epsilon};
pub use read::{kind_of, read_many, read_one};
pub use record::{RecordColumns, RecordMap};
pub use release::{Missing, Release, SCHEMA, Tool};
pub use schema::{json_schema, json_schema_counts, json_schema_randomised};
pub use statistic::{Layout, Statistic, Weights, fourth_moment_entries, gram_entries};
pub use suggest::{did_you_mean, shell_word};
pub use validate::{LARGEST_SCALE, MOST_RECORDS, MOST_SCALES};
