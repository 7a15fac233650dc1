//! Errors of inference.

/// Why releases cannot be fitted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InferError {
    /// There is nothing to fit.
    #[error("give at least one release")]
    NoRelease,
    /// Two releases describe different regressions.
    #[error("{second} disagrees with {first} on {field}: {found} against {expected}")]
    Disagreement {
        /// The first release.
        first: String,
        /// The release that differs from it.
        second: String,
        /// What they disagree on.
        field: &'static str,
        /// The first release's value.
        expected: String,
        /// The other's.
        found: String,
    },
    /// One party appears twice, so its records would count twice.
    #[error("{party:?} appears twice: the same records would count twice")]
    Duplicate {
        /// The party.
        party: String,
    },
    /// The method needs noise of another family.
    #[error("{party}: this method needs gaussian noise, the release has laplace")]
    Family {
        /// The party.
        party: String,
    },
    /// A matrix of the prior or of the posterior is not positive definite.
    #[error("a covariance matrix is not positive definite (row {row})")]
    NotPositiveDefinite {
        /// The row at which it fails.
        row: usize,
    },
    /// A number of the prior is impossible.
    #[error("prior: {field} {reason}")]
    Prior {
        /// Which number.
        field: &'static str,
        /// What it must be.
        reason: String,
    },
}
