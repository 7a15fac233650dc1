//! Why a simulated study cannot be done.

/// What is wrong with a request for simulations, or what went wrong on the way.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// An option of the command has an impossible value.
    #[error("{option}: {reason}")]
    Setting {
        /// The option.
        option: &'static str,
        /// What it must be.
        reason: String,
    },
    /// A fit failed.
    #[error("replicate {replicate}: {reason}")]
    Replicate {
        /// Number of the replicate, from 1.
        replicate: usize,
        /// Why.
        reason: String,
    },
    /// Someone stopped it.
    #[error("interrupted: nothing is kept")]
    Interrupted,
}

impl StudyError {
    /// An impossible option.
    pub fn setting(option: &'static str, reason: impl ToString) -> Self {
        Self::Setting { option, reason: reason.to_string() }
    }

    /// Refuses numbers outside of a range.
    pub(crate) fn check_range(
        option: &'static str,
        value: usize,
        range: std::ops::RangeInclusive<usize>,
    ) -> Result<(), Self> {
        if range.contains(&value) {
            return Ok(());
        }
        let (first, last) = (range.start(), range.end());
        Err(Self::setting(option, format!("must be between {first} and {last}, found {value}")))
    }

    /// Refuses numbers that are not positive and finite.
    pub(crate) fn check_positive(option: &'static str, value: f64) -> Result<(), Self> {
        if value.is_finite() && value > 0.0 {
            return Ok(());
        }
        Err(Self::setting(option, format!("must be positive and finite, found {value}")))
    }
}
