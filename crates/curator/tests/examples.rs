//! The example runs and finds the rate behind its records.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

#[path = "../examples/private_model.rs"]
mod private_model;

/// Catches a model trait that no longer suffices for a model of one's own, and a chain that does not move towards the records.
#[test]
fn a_private_model_of_ones_own() {
    private_model::main().unwrap();
}
