//! What a budget buys: `organza frontier`.
//!
//! Interval widths and errors against epsilon for a design: so many parties, records and features, and a share of the variance that features explain. Tables
//! are simulated, and go through the planning, the clamping, the scaling and the exact sums of a real release; only the noise is seeded. So
//! an epsilon is chosen before it is spent, and no private table has a say in it.
//!
//! **Bounds** are loose, as officers write them: a column's standard deviation is a stated share of their half-range,
//! and its mean is off the middle.
//!
//! **Units.** Coefficients are standardised: standard deviations of the response for one of the feature. Every replicate has its own truth, and the same tables
//! and noise (times its scale) at every epsilon.

mod design;
mod expected;
mod picture;
mod report;
mod run;

pub use design::{Design, FILL, Frontier};
pub use expected::{Expected, ExpectedSlope, expected};
pub use report::{Point, Report};
pub use run::{Outcome, Score};
