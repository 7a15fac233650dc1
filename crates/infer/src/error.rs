//! Errors of inference.

use organza_mcmc::{DrawsError, RunError};

/// Why releases cannot be fitted.
#[derive(Debug, thiserror::Error)]
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
    /// An entry of X'X or X'y is not in the release.
    #[error("{party}: statistic.entries: {entry:?} is missing; every entry of X'X and X'y is needed")]
    MissingEntry {
        /// The party.
        party: String,
        /// Row and column.
        entry: [usize; 2],
    },
    /// A release of counts or of answers has an impossible field.
    #[error("{party}: {field}: {reason}")]
    Counts {
        /// The party.
        party: String,
        /// Which field.
        field: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The method needs something that a release does not have.
    #[error("{party}: {method} needs {needs}{}", alternatives(methods))]
    Unsupported {
        /// The party.
        party: String,
        /// The method.
        method: String,
        /// The missing capability.
        needs: String,
        /// Methods that accept the releases.
        methods: Vec<String>,
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
        field: String,
        /// What it must be.
        reason: String,
    },
    /// A setting of the fit is impossible.
    #[error("{field}: {reason}")]
    Setting {
        /// Which setting.
        field: &'static str,
        /// What it must be.
        reason: String,
    },
    /// The chains failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The draws could not be named or summarised.
    #[error(transparent)]
    Draws(#[from] DrawsError),
}

impl InferError {
    /// The method needs something that the release of this party lacks; the dispatcher adds the alternatives.
    pub(crate) fn unsupported(party: &str, method: &str, needs: &str) -> Self {
        Self::Unsupported { party: party.into(), method: method.into(), needs: needs.into(), methods: vec![] }
    }

    pub(crate) fn counts(party: &str, field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Counts { party: party.into(), field: field.into(), reason: reason.into() }
    }

    pub(crate) fn prior(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Prior { field: field.into(), reason: reason.into() }
    }
}

fn alternatives(methods: &[String]) -> String {
    match methods {
        [] => String::new(),
        _ => format!("; methods that accept these releases: {}", methods.join(", ")),
    }
}
