//! The examples run.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

#[path = "../examples/chains.rs"]
mod chains;
#[path = "../examples/hospital.rs"]
mod hospital;

#[test]
fn two_hospitals_and_an_analyst() {
    hospital::main().unwrap();
}

#[test]
fn private_chains() {
    chains::main().unwrap();
}
