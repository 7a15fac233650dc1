//! The Gibbs samplers as chains: limits with closed forms, laws against each other, refusals.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod agreement;
mod limits;
mod refusals;
mod support;
