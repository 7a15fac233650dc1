//! What can go wrong with a ledger, and what to do then.

use super::account::{Budget, Spent};
use super::charge::ChargeId;
use organza_release::loss::LossError;
use rusqlite::ErrorCode;
use std::path::{Path, PathBuf};

/// An error of the ledger. Whenever one is returned, nothing has been recorded and nothing may be released.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// The charge does not fit into the budget.
    #[error(
        "the budget of data set '{dataset}' does not suffice: it is {budget}, spent so far {spent_before}, with this \
         release {spent_after}; add more noise, or raise the budget if that is what you want"
    )]
    OverBudget {
        /// The data set.
        dataset: String,
        /// The budget.
        budget: Budget,
        /// Spent without the charge.
        spent_before: Spent,
        /// What would be spent with it.
        spent_after: Spent,
    },
    /// A budget would be lowered below what is spent.
    #[error(
        "cannot set the budget of data set '{dataset}' to {budget}: at that delta it has already spent {spent}"
    )]
    BudgetBelowSpent {
        /// The data set.
        dataset: String,
        /// The budget that was asked for.
        budget: Budget,
        /// What is spent.
        spent: Spent,
    },
    /// A charge states less than its mechanism spends.
    #[error(
        "the release claims {claim}, but at that delta its mechanism spends {spent}; state the true loss"
    )]
    FalseClaim {
        /// The claim.
        claim: Budget,
        /// What the mechanism spends.
        spent: Spent,
    },
    /// A charge that does not hide the number of records, in a data set whose other charges do.
    #[error(
        "some charges of this data set protect records that are added or removed, others only records that are exchanged, for whom \
         the number of records is public: their losses do not add up. Use the same neighbours as before, or account for \
         exchanged records only: set the budget with the neighbours `substitute`, where a loss for added and removed records \
         counts twice"
    )]
    NumberIsPublic,
    /// The site allows less.
    #[error(
        "data set '{dataset}' may spend {limit} in total by the policy of this site, and not more; nothing was recorded"
    )]
    AboveLimit {
        /// The data set.
        dataset: String,
        /// The most that is allowed.
        limit: Budget,
    },
    /// The records have been charged under another name.
    #[error(
        "these records were charged as data set '{known}' before: a copy or a new name has no budget of its own; name them \
         '{known}' again"
    )]
    KnownContent {
        /// The name of the data set.
        known: String,
    },
    /// The ledger was made by another process after these records were read.
    #[error("{}: another process made the ledger at the same time; nothing was charged: run it again", path.display())]
    OtherKey {
        /// The ledger.
        path: PathBuf,
    },
    /// A number is out of range.
    #[error(transparent)]
    Loss(#[from] LossError),
    /// The name of a data set or a party cannot be used.
    #[error(
        "{field} = '{}': a name must not be empty, begin or end with a blank, or have characters that are not visible",
        value.escape_debug()
    )]
    Name {
        /// Which name.
        field: &'static str,
        /// The name that was given.
        value: String,
    },
    /// There is no charge with this number.
    #[error("{}: there is no charge {id}", path.display())]
    UnknownCharge {
        /// The number.
        id: ChargeId,
        /// The ledger.
        path: PathBuf,
    },
    /// A charge pays for one output only.
    #[error("charge {id} has been published as '{output}' already; another output needs another charge")]
    AlreadyPublished {
        /// The number of the charge.
        id: ChargeId,
        /// Where it was published.
        output: String,
    },
    /// The file is something else.
    #[error("{}: not a ledger ({reason}); name another file, or remove it if you are sure", path.display())]
    NotALedger {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        reason: String,
    },
    /// The file was written by a later version of this software.
    #[error(
        "{}: written by a newer version (schema {found}, this one knows {known}); update to use it",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of its schema.
        found: i64,
        /// The latest version that this software knows.
        known: i64,
    },
    /// The file is damaged.
    #[error(
        "{}: the ledger is damaged ({detail}); restore it from a copy, for what it recorded is spent",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// Another process is writing.
    #[error("{}: another process has locked the ledger for half a minute; try again", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The file, or its folder, cannot be written.
    #[error(
        "{}: the ledger cannot be written ({detail}); check the permissions of the file and its folder",
        path.display()
    )]
    NotWritable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        detail: String,
    },
    /// The file system refused.
    #[error("{}: cannot {action} the ledger: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// Anything else that SQLite reports.
    #[error("{}: {source}", path.display())]
    Storage {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
}

/// Turns an error of SQLite about the file at `path` into one that says what to do.
pub(super) fn explain(path: &Path) -> impl Fn(rusqlite::Error) -> LedgerError {
    move |source| {
        let path = path.to_owned();
        let detail = source.to_string();
        match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => LedgerError::NotALedger { path, reason: detail },
            Some(ErrorCode::DatabaseCorrupt) => LedgerError::Damaged { path, detail },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => LedgerError::Busy { path },
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                LedgerError::NotWritable { path, detail }
            }
            // A row that is not what this software writes.
            None => LedgerError::Damaged { path, detail },
            Some(_) => LedgerError::Storage { path, source },
        }
    }
}
