//! Errors of reading, checking and describing releases.

use crate::document::Kind;
use crate::loss::LossError;

/// What is wrong with a release.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReleaseError {
    /// The text is not JSON, or a field is missing, unknown or of the wrong type.
    #[error("{source_name}: {field}: {reason}")]
    Syntax {
        /// File or stream that was read.
        source_name: String,
        /// Path of the field, or the place in the text.
        field: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The file was written by a newer version.
    #[error(
        "{source_name}: schema: {found:?} is newer than {supported:?}; install a newer organza to read it"
    )]
    NewerSchema {
        /// File or stream that was read.
        source_name: String,
        /// The schema of the file.
        found: String,
        /// The schema that this version reads.
        supported: String,
    },
    /// The file holds another kind of release than was asked for.
    #[error("{source_name}: is {found}, not {wanted}")]
    OtherKind {
        /// File or stream that was read.
        source_name: String,
        /// What it holds.
        found: Kind,
        /// What was expected.
        wanted: Kind,
    },
    /// A field has a value that cannot be.
    #[error("{field}: {reason}")]
    Field {
        /// Path of the field, for example `noise.scales[3]`.
        field: String,
        /// What is wrong with it and what to do.
        reason: String,
    },
    /// A loss could not be computed.
    #[error(transparent)]
    Loss(#[from] LossError),
}

impl ReleaseError {
    /// An impossible value in a field.
    pub(crate) fn field(field: impl Into<String>, reason: impl Into<String>) -> Self {
        ReleaseError::Field { field: field.into(), reason: reason.into() }
    }

    /// A failure to turn a release into text.
    pub(crate) fn from_writing(error: serde_json::Error) -> Self {
        ReleaseError::field("release", format!("cannot be written as JSON: {error}"))
    }

    /// The same error, with the file that it comes from.
    pub(crate) fn within(self, source_name: &str) -> Self {
        match self {
            ReleaseError::Field { field, reason } => {
                ReleaseError::Syntax { source_name: source_name.to_string(), field, reason }
            }
            ReleaseError::NewerSchema { found, supported, .. } => {
                ReleaseError::NewerSchema { source_name: source_name.to_string(), found, supported }
            }
            other => other,
        }
    }
}
