//! Verbs about simulated tables: what a loss buys, and whether methods are calibrated.

pub mod calibration;
pub mod frontier;
pub mod simulate;
pub mod simulated;
