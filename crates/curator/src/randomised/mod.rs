//! Randomised response: every record's own answers, each replaced at random with a known probability.
//!
//! A [`RandomisedRequest`] becomes a [`RandomisedPlan`] without reading data; a [`Job`](crate::job::Job) reads the answers
//! in the order of the table and draws a published one for each.

mod plan;
mod publish;
#[cfg(test)]
mod tests;
mod truth;

pub use plan::{Per, Question, RandomisedPlan, RandomisedRequest};
pub use publish::ExactAnswers;
