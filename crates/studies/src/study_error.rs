//! Why a simulated study cannot be done.

/// What is wrong with a request for simulations, or what went wrong on the way.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// A setting has an impossible value.
    #[error("the setting `{field}`: {reason}")]
    Setting {
        /// The setting, by the name of its field.
        field: &'static str,
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
    /// An impossible value.
    pub fn setting(field: &'static str, reason: impl ToString) -> Self {
        Self::Setting { field, reason: reason.to_string() }
    }

    /// Refuses numbers outside of a range.
    pub(crate) fn check_range(
        field: &'static str,
        value: usize,
        range: std::ops::RangeInclusive<usize>,
    ) -> Result<(), Self> {
        if range.contains(&value) {
            return Ok(());
        }
        let (first, last) = (range.start(), range.end());
        Err(Self::setting(field, format!("must be between {first} and {last}, found {value}")))
    }

    /// Refuses numbers that are not positive and finite.
    pub(crate) fn check_positive(field: &'static str, value: f64) -> Result<(), Self> {
        if value.is_finite() && value > 0.0 {
            return Ok(());
        }
        Err(Self::setting(field, format!("must be positive and finite, found {value}")))
    }
}
