//! Arguments, words and terminal of `organza-lab`.

pub mod reproduce;
pub mod terminal;

use organza_lab::reproduce::ReproduceError;

/// An error with its exit code.
#[derive(Debug)]
pub struct Failure {
    /// 1: the run failed; 2: wrong usage or bad input.
    pub code: u8,
    /// For a person.
    pub message: String,
}

impl Failure {
    /// Something that the user can put right.
    pub fn bad_input(message: impl std::fmt::Display) -> Self {
        Self { code: 2, message: message.to_string() }
    }

    /// Something that went wrong on the way.
    pub fn failed(message: impl std::fmt::Display) -> Self {
        Self { code: 1, message: message.to_string() }
    }
}

impl From<ReproduceError> for Failure {
    fn from(error: ReproduceError) -> Self {
        match error {
            ReproduceError::File { .. } | ReproduceError::Cell { .. } => Failure::failed(error),
            other => Failure::bad_input(other),
        }
    }
}
