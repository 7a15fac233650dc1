//! Simulated studies that a person asks for, of records that are nobody's.
//!
//! [`calibration`] asks whether the intervals of a method are honest on the model that it assumes, [`frontier`] what an epsilon buys before
//! it is spent; [`simulation`] makes tables with a known truth. [`plot`] draws their pictures as SVG, [`metrics`] holds what they measure.
//!
//! **Seeded noise protects nobody.** Studies must be repeatable, so their releases ([`seeded`]) have noise from a seed. They are made of
//! simulated records only; the curator, which sees real ones, takes no seed.

pub mod calibration;
pub mod frontier;
#[doc(hidden)]
pub mod linalg;
pub mod metrics;
pub mod plot;
mod seed;
pub mod seeded;
pub mod simulation;
mod study_error;
mod watch;

pub use seed::{generator, seed};
pub use study_error::StudyError;
pub use watch::Watch;
