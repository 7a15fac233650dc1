//! What can go wrong, with the place and the remedy.

/// Why a reproduction cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReproduceError {
    /// A file or folder cannot be read or written.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: String,
        /// What happened.
        reason: String,
    },
    /// A line of a file has no meaning.
    #[error("{path}, line {line}: {reason}")]
    Line {
        /// The file.
        path: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong and what to do.
        reason: String,
    },
    /// A file of results was written with other settings.
    #[error(
        "{path}: {field} is {found}, this run has {expected}; move the file away or choose another folder with --out"
    )]
    Settings {
        /// The file.
        path: String,
        /// What differs.
        field: &'static str,
        /// In the file.
        found: String,
        /// In this run.
        expected: String,
    },
    /// A public data set is not there.
    #[error("{name} is not at {path}; {remedy}")]
    MissingData {
        /// The data set.
        name: String,
        /// Where it was looked for.
        path: String,
        /// How to get it.
        remedy: String,
    },
    /// The experiment is not done in this way.
    #[error("{key} cannot be reproduced --as {variant}; it can --as {known}")]
    Variant {
        /// The experiment.
        key: &'static str,
        /// What was asked for.
        variant: &'static str,
        /// What there is.
        known: String,
    },
    /// A replicate failed.
    #[error("{cell}, replicate {replicate}: {reason}")]
    Cell {
        /// The configuration.
        cell: String,
        /// The replicate, from 1.
        replicate: u64,
        /// What happened.
        reason: String,
    },
}

impl ReproduceError {
    /// A file that cannot be read or written.
    pub fn file(path: &std::path::Path, reason: impl std::fmt::Display) -> Self {
        ReproduceError::File { path: path.display().to_string(), reason: reason.to_string() }
    }
}
