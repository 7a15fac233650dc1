//! Posteriors from noisy counts and randomised answers against enumeration, quadrature and their limits.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod exact;
mod front;
mod limits;
mod overlapping;
mod paper;
mod randomised;
mod support;
