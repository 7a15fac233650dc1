//! Randomised response: every record's own answers, each replaced at random with a known probability.

mod claim;
mod validate;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::counts::LevelColumn;
use crate::privacy::Neighbours;
use crate::release::{Missing, Tool};

pub use claim::{RandomisedClaim, randomised_epsilon};

/// The schema of a release of randomised answers.
pub const RANDOMISED_SCHEMA: &str = "organza/randomised/1";

/// One question that every record answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The columns that it is about; an answer about several columns is one of the cells of their contingency table, the
    /// level of the last column changing fastest.
    pub columns: Vec<String>,
    /// Probability that the answer is the true one; every other answer is equally likely.
    pub truth: f64,
    /// The answers of all records, as indices from 0.
    pub value: Vec<u32>,
}

/// Randomised answers of the records of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomisedRelease {
    /// Name and version of the format.
    pub schema: String,
    /// The data holder.
    pub party: String,
    /// When, as RFC 3339 in UTC.
    pub created: String,
    /// Number of records; it is public.
    pub records: u64,
    /// What was done with missing values.
    pub missing: Missing,
    /// The columns that the answers are about, each in one answer.
    pub columns: Vec<LevelColumn>,
    /// The answers: one for all columns together, or one for each column.
    pub answers: Vec<Answer>,
    /// Which tables count as neighbours: one record is exchanged for another.
    pub neighbours: Neighbours,
    /// The release is epsilon-differentially private, for every record on its own (the local model).
    pub epsilon: f64,
    /// The program that wrote it.
    pub tool: Tool,
}
