//! Exit codes and the way errors are shown.

use std::process::ExitCode;

use organza_curator::CuratorError;
use organza_curator::ledger::LedgerError;
use organza_infer::InferError;
use organza_mcmc::RunError;
use organza_release::ReleaseError;
use organza_release::loss::LossError;

use super::flags;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// All is well.
    Fine = 0,
    /// The run failed.
    Failed = 1,
    /// Wrong usage or bad input.
    BadInput = 2,
    /// Finished, but a check of the result failed.
    CheckFailed = 3,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        ExitCode::from(status as u8)
    }
}

/// An error with its exit code.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub status: Status,
    message: String,
}

impl Failure {
    /// Something that the user can put right.
    pub fn bad_input(message: impl std::fmt::Display) -> Self {
        Self { status: Status::BadInput, message: flags::in_text(&message.to_string()) }
    }

    /// Something that went wrong on the way.
    pub fn failed(message: impl std::fmt::Display) -> Self {
        Self { status: Status::Failed, message: flags::in_text(&message.to_string()) }
    }

    /// The text for a person, in colour where the terminal has it.
    pub fn describe(&self) -> String {
        format!("\u{1b}[1;31merror:\u{1b}[0m {}", self.message)
    }
}

impl From<organza::Error> for Failure {
    fn from(error: organza::Error) -> Self {
        match error {
            organza::Error::Curator(error) => error.into(),
            organza::Error::Release(error) => error.into(),
            organza::Error::Unwritable { .. }
            | organza::Error::Unfinished { .. }
            | organza::Error::Infer(InferError::NotPositiveDefinite { .. }) => Failure::failed(error),
            organza::Error::Exists { path } => {
                Failure::bad_input(format!("{path} exists: choose another folder or say --force"))
            }
            other => Failure::bad_input(other),
        }
    }
}

impl From<CuratorError> for Failure {
    fn from(error: CuratorError) -> Self {
        match error {
            CuratorError::Ledger(error) => error.into(),
            CuratorError::Run(RunError::Plan { .. }) => Failure::bad_input(error),
            CuratorError::Entropy(_)
            | CuratorError::Interrupted { .. }
            | CuratorError::Run(_)
            | CuratorError::Unwritable { .. } => Failure::failed(error),
            other => Failure::bad_input(other),
        }
    }
}

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::Name { .. } => Failure::bad_input(error),
            other => Failure::failed(other),
        }
    }
}

impl From<ReleaseError> for Failure {
    fn from(error: ReleaseError) -> Self {
        Failure::bad_input(error)
    }
}

impl From<LossError> for Failure {
    fn from(error: LossError) -> Self {
        Failure::bad_input(error)
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Failure::failed(format!("the result cannot be written as JSON: {error}"))
    }
}
