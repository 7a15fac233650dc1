//! Errors of the side that sees data.

use organza_mcmc::RunError;
use organza_release::ReleaseError;
use organza_release::loss::LossError;

use crate::bounds::BoundsError;
use crate::formula::FormulaError;
use crate::gram::GramError;
use crate::ledger::LedgerError;
use crate::table::{self, printed};

/// What can go wrong between a table and its release.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CuratorError {
    /// A file could not be opened or read.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: String,
        /// What the operating system or the format's reader says.
        reason: String,
    },
    /// A file could not be written; nothing of it is left.
    #[error("{path}: {reason}")]
    Unwritable {
        /// The file.
        path: String,
        /// What the operating system says.
        reason: String,
    },
    /// The output is already there.
    #[error(
        "{path}: exists already; choose another name or overwrite it with the setting `overwrite = true`"
    )]
    OutputExists {
        /// The file.
        path: String,
    },
    /// The output is there, and is nothing that may be replaced.
    #[error(
        "{path}: this is {what}, which is not replaced, not even with the setting `overwrite = true`: choose another name"
    )]
    NotReplaced {
        /// The file.
        path: String,
        /// What it is.
        what: &'static str,
    },
    /// The table holds no record.
    #[error("{path}: the table holds no record")]
    EmptyTable {
        /// The file.
        path: String,
    },
    /// A column that the formula names is not in the table.
    #[error("{path}: there is no column \"{}\"{}", printed(column), table::available(column, available))]
    UnknownColumn {
        /// The file.
        path: String,
        /// The column.
        column: String,
        /// The columns that exist.
        available: Vec<String>,
    },
    /// A value cannot be used.
    #[error("{path}: {place}, column \"{column}\": {reason}")]
    Cell {
        /// The file.
        path: String,
        /// Line of a text file or row of a binary one.
        place: String,
        /// The column.
        column: String,
        /// What is wrong and what to do.
        reason: String,
    },
    /// A row has too few or too many fields, or is otherwise not readable.
    #[error("{path}: {place}: {reason}")]
    Row {
        /// The file.
        path: String,
        /// Line of a text file.
        place: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A setting has an impossible value.
    #[error("the setting `{field}`: {reason}")]
    Setting {
        /// The field of a request or an option, after its type where two share a name. Messages name settings in no other
        /// way than this variant does, so that a door may put its own words in their place.
        field: &'static str,
        /// What is wrong and what to do.
        reason: String,
    },
    /// The system gave no randomness, so nothing may be published.
    #[error("no randomness from the operating system: {0}")]
    Entropy(String),
    /// The formula is wrong or does not fit the bounds.
    #[error(transparent)]
    Formula(#[from] FormulaError),
    /// A record cannot be mapped to integers.
    #[error(transparent)]
    Gram(#[from] GramError),
    /// Some batches were released before something went wrong.
    #[error("{releases} batches were released to {path} before this happened, and were paid for: {cause}")]
    Interrupted {
        /// The release file.
        path: String,
        /// How many releases it holds.
        releases: u64,
        /// What went wrong.
        cause: Box<CuratorError>,
    },
    /// The site does not allow it.
    #[error("{file}: the policy of this site forbids it: {reason}; nothing was charged or published")]
    Policy {
        /// The policy.
        file: String,
        /// What it forbids.
        reason: String,
    },
    /// The guarantee is hardly one.
    #[error(
        "{reason}; use a smaller one, or give the setting `allow_weak_guarantee = true`; nothing was charged or published"
    )]
    WeakGuarantee {
        /// Why.
        reason: String,
    },
    /// The bounds are wrong.
    #[error(transparent)]
    Bounds(#[from] BoundsError),
    /// The budget does not suffice or the ledger cannot be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The loss could not be computed.
    #[error(transparent)]
    Loss(#[from] LossError),
    /// A private chain failed, or its plan cannot be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The release would not be valid.
    #[error(transparent)]
    Release(#[from] ReleaseError),
}

impl CuratorError {
    pub(crate) fn file(path: impl std::fmt::Display, reason: impl std::fmt::Display) -> Self {
        CuratorError::File { path: path.to_string(), reason: reason.to_string() }
    }

    pub(crate) fn unwritable(path: impl std::fmt::Display, reason: String) -> Self {
        CuratorError::Unwritable { path: path.to_string(), reason }
    }

    /// A setting, by name, with an impossible value.
    pub fn setting(field: &'static str, reason: impl Into<String>) -> Self {
        CuratorError::Setting { field, reason: reason.into() }
    }
}
