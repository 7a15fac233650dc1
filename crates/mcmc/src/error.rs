//! Errors of running chains and of handling their draws.

use crate::Stop;

/// Why a run gave no draws.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The plan cannot be run.
    #[error("plan: {field}: {reason}")]
    Plan {
        /// The field of the plan.
        field: &'static str,
        /// What is wrong with it and what to do.
        reason: String,
    },
    /// A chain failed. If several do, this is the first by number, on any number of threads.
    #[error("chain {chain}, {}: {stop}", place(*step, *warmup))]
    Chain {
        /// Number of the chain, from 1 as in files.
        chain: usize,
        /// Number of the step, from 1 and with warm-up; 0 is the start of the chain.
        step: usize,
        /// Steps of warm-up in the plan.
        warmup: usize,
        /// What happened.
        stop: Stop,
    },
    /// The position of a chain changed its length.
    #[error("chain {chain}, step {step}: the position has {found} values, but {expected} before")]
    Dimension {
        /// Number of the chain, from 1.
        chain: usize,
        /// Number of the step, from 1.
        step: usize,
        /// Values before.
        expected: usize,
        /// Values now.
        found: usize,
    },
    /// The threads could not be started.
    #[error("plan: threads: {reason}; plan fewer threads")]
    Threads {
        /// What the system says.
        reason: String,
    },
}

fn place(step: usize, warmup: usize) -> String {
    match step {
        0 => "start".to_string(),
        _ if step <= warmup => format!("step {step} (warm-up)"),
        _ => format!("step {step}"),
    }
}

/// Why draws could not be made, summarised, written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DrawsError {
    /// Sizes do not fit.
    #[error("{field}: expected {expected}, found {found}")]
    Size {
        /// What has the wrong size.
        field: &'static str,
        /// The size that fits.
        expected: usize,
        /// The size that was given.
        found: usize,
    },
    /// Two parameters have the same name, or a name that files reserve.
    #[error("parameter name {name:?} {reason}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The mass of an interval is not a probability.
    #[error("mass: {mass} is not between 0 and 1")]
    Mass {
        /// The mass that was given.
        mass: f64,
    },
    /// A file could not be written.
    #[error("draws: cannot be written as {format}: {reason}")]
    Write {
        /// The format.
        format: &'static str,
        /// What the system says.
        reason: String,
    },
    /// A file is damaged, or not one of ours.
    #[error("draws: cannot be read from {format}: {place}: {reason}")]
    Read {
        /// The format.
        format: &'static str,
        /// The column, or another part of the file.
        place: String,
        /// What is wrong with it.
        reason: String,
    },
}
