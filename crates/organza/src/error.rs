//! One error for everything that the facade does.

use std::path::Path;

use organza_curator::CuratorError;
use organza_infer::InferError;
use organza_release::ReleaseError;

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Beside the table: reading, planning, paying, publishing.
    #[error(transparent)]
    Curator(#[from] CuratorError),
    /// From releases to a posterior.
    #[error(transparent)]
    Infer(#[from] InferError),
    /// A release that cannot be read.
    #[error(transparent)]
    Release(#[from] ReleaseError),
    /// A file or folder that cannot be used.
    #[error("{path}: {problem}")]
    Unusable {
        /// The file or folder.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A result that is there already.
    #[error("{path} exists: choose another folder, or allow it to be replaced")]
    Exists {
        /// The folder.
        path: String,
    },
    /// Private chains that are not worth their budget.
    #[error("{advice}; nothing was asked of the records, and nothing was charged")]
    FewDraws {
        /// What to do.
        advice: String,
    },
    /// Private chains that were paid for and gave nothing.
    #[error("{problem}; the charge stands")]
    Unfinished {
        /// What went wrong.
        problem: String,
    },
    /// A result that could not be written.
    #[error("{path}: cannot be written: {problem}")]
    Unwritable {
        /// The file or folder.
        path: String,
        /// What went wrong.
        problem: String,
    },
}

impl Error {
    pub(crate) fn unusable(path: &Path, problem: impl std::fmt::Display) -> Self {
        Self::Unusable { path: path.display().to_string(), problem: problem.to_string() }
    }

    pub(crate) fn unwritable(path: &Path, problem: impl std::fmt::Display) -> Self {
        Self::Unwritable { path: path.display().to_string(), problem: problem.to_string() }
    }
}
