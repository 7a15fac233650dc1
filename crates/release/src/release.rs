//! The release itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{Document, Kind, replace};
use crate::domain::Domain;
use crate::error::ReleaseError;
use crate::noise::Noise;
use crate::privacy::PrivacyLoss;
use crate::statistic::Statistic;

/// The schema that this version writes. It reads two older ones, which say `private_bounds` for `public_bounds`: the first has
/// Gram matrices of records alone, the second all other statistics.
pub const SCHEMA: &str = "organza/release/3";

/// What was done with records that miss a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// None was missing: a missing value stops the release.
    Refused,
    /// Such records were left out. `records` counts the complete ones, and the guarantee holds between tables
    /// with the same pattern of complete and incomplete records: which records are complete is public.
    Dropped,
    /// A missing value was replaced by the middle of its public bounds.
    Midpoint,
}

/// The program that wrote a release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// Noisy statistics of a table, with everything that an analyst needs to infer from them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// Name and version of the format.
    pub schema: String,
    /// The data holder.
    pub party: String,
    /// When, as RFC 3339 in UTC.
    pub created: String,
    /// Public number of records; null if neighbours differ by adding or removing a record.
    #[serde(deserialize_with = "Option::deserialize")]
    pub records: Option<u64>,
    /// What was done with missing values.
    pub missing: Missing,
    /// The public domain of a record.
    pub domain: Domain,
    /// What was computed.
    pub statistic: Statistic,
    /// One noisy value per entry, in normalised units.
    pub value: Vec<f64>,
    /// The noise on the values.
    pub noise: Noise,
    /// What the release costs.
    pub privacy: PrivacyLoss,
    /// The program that wrote it.
    pub tool: Tool,
}

impl Release {
    /// The release as indented JSON with a final line break, after the same checks as reading.
    pub fn to_json(&self) -> Result<String, ReleaseError> {
        Document::to_json(self)
    }

    /// The release as one line of JSON, for files that hold many.
    pub fn to_json_line(&self) -> Result<String, ReleaseError> {
        Document::to_json_line(self)
    }
}

impl Document for Release {
    const KIND: Kind = Kind::Sums;

    fn validate(&self) -> Result<(), ReleaseError> {
        Release::validate(self)
    }

    fn upgrade(&mut self) -> bool {
        let old = match self.statistic {
            Statistic::Gram { .. } => "organza/release/1",
            _ => "organza/release/2",
        };
        replace(&mut self.schema, old, SCHEMA)
    }
}
