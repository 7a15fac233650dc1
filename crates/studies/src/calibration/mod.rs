//! Simulation-based calibration: `organza calibration`.
//!
//! If parameters are drawn from the prior, data from the model and draws from the posterior, the rank of the truth among the draws is
//! uniform. A [`Calibration`] draws a truth from a prior ([`Study::model_for`]), simulates the data that the method imagines ([`Data`]), makes the releases of
//! all parties with seeded noise, fits them, and notes the rank; [`Report`] says whether the [`Ranks`] are uniform, [`picture()`] shows
//! it, and a [`Matrix`] does so for all methods.

mod band;
mod data;
mod matrix;
mod picture;
mod ranks;
mod report;
mod request;
mod run;
mod study;
mod truth;

pub use band::{Band, points};
pub use data::Data;
pub use matrix::{Cell, Matrix};
pub use picture::picture;
pub use ranks::{BINS, Ranks};
pub use report::{Report, Row};
pub use request::{Calibration, Request};
pub use run::Outcome;
pub use study::Study;
pub use truth::Truth;
