//! Kinds of files that cross from a data holder to an analyst, told apart by their schema.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::counts::COUNTS_SCHEMA;
use crate::error::ReleaseError;
use crate::randomised::RANDOMISED_SCHEMA;
use crate::read;
use crate::release::SCHEMA_2;

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Noisy sums of products: a [`Release`](crate::Release).
    Sums,
    /// Noisy contingency tables: a [`CountRelease`](crate::CountRelease).
    Counts,
    /// Randomised answers: a [`RandomisedRelease`](crate::RandomisedRelease).
    Randomised,
}

impl Kind {
    const ALL: [Kind; 3] = [Kind::Sums, Kind::Counts, Kind::Randomised];

    /// The newest schema of this kind that this version reads.
    pub fn newest_schema(self) -> &'static str {
        match self {
            Kind::Sums => SCHEMA_2,
            Kind::Counts => COUNTS_SCHEMA,
            Kind::Randomised => RANDOMISED_SCHEMA,
        }
    }

    /// The kind that a schema names, whatever its version.
    pub fn of_schema(schema: &str) -> Option<Kind> {
        let family = |name: &'static str| name.trim_end_matches(|c: char| c.is_ascii_digit());
        Kind::ALL.into_iter().find(|kind| schema.starts_with(family(kind.newest_schema())))
    }

    /// Whether a schema is of this kind, with a larger version number than this program knows.
    pub(crate) fn is_newer(self, found: &str) -> bool {
        let version = |name: &str| {
            let (_, version) = name.rsplit_once('/')?;
            version.parse::<u32>().ok()
        };
        let newer = matches!((version(found), version(self.newest_schema())), (Some(theirs), Some(ours)) if theirs > ours);
        newer && Kind::of_schema(found) == Some(self)
    }

    /// What this version cannot read, named by its schema.
    pub(crate) fn newer_schema(self, source_name: &str, found: &str) -> ReleaseError {
        ReleaseError::NewerSchema {
            source_name: source_name.to_string(),
            found: found.to_string(),
            supported: self.newest_schema().to_string(),
        }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Kind::Sums => "a release of sums",
            Kind::Counts => "a release of counts",
            Kind::Randomised => "a release of randomised answers",
        })
    }
}

/// A kind of release: read strictly, written only if valid.
///
/// ```
/// use organza_release::{CountRelease, Document};
///
/// let error = CountRelease::read_one(b"{}", "north.json").unwrap_err();
/// assert!(error.to_string().starts_with("north.json: "));
/// ```
pub trait Document: Serialize + DeserializeOwned {
    /// Which kind it is.
    const KIND: Kind;

    /// Checks that every field has a possible value and that the fields agree with each other.
    fn validate(&self) -> Result<(), ReleaseError>;

    /// Reads a file that holds exactly one. `source_name` is used in errors.
    fn read_one(bytes: &[u8], source_name: &str) -> Result<Self, ReleaseError> {
        read::one(bytes, source_name)
    }

    /// Reads a file that holds one, an array of them, or one after the other (JSON lines).
    fn read_many(bytes: &[u8], source_name: &str) -> Result<Vec<Self>, ReleaseError> {
        read::many(bytes, source_name)
    }

    /// The same, one after the other, so that no more than one need be in memory.
    fn read_each<E: From<ReleaseError>>(
        bytes: &[u8],
        source_name: &str,
        visit: impl FnMut(Self) -> Result<(), E>,
    ) -> Result<(), E> {
        read::each(bytes, source_name, visit)
    }

    /// Indented JSON with a final line break, after the same checks as reading.
    fn to_json(&self) -> Result<String, ReleaseError> {
        self.validate()?;
        let mut text = serde_json::to_string_pretty(self).map_err(ReleaseError::from_writing)?;
        text.push('\n');
        Ok(text)
    }

    /// One line of JSON, for files that hold many.
    fn to_json_line(&self) -> Result<String, ReleaseError> {
        self.validate()?;
        let mut text = serde_json::to_string(self).map_err(ReleaseError::from_writing)?;
        text.push('\n');
        Ok(text)
    }
}
