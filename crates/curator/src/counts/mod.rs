//! Noisy contingency tables: how many records fall into every cell of some columns' levels.
//!
//! A [`CountRequest`] of public knowledge becomes a [`CountPlan`] without reading data; a [`Job`](crate::job::Job)
//! counts in one pass and adds discrete noise to every cell, also to the empty ones.

mod calibrate;
mod plan;
mod publish;
mod request;
mod tally;
#[cfg(test)]
mod tests;

pub use plan::CountPlan;
pub use request::{CountRequest, parse_tables};
pub use tally::ExactCounts;

pub(crate) use calibrate::{rational, smallest_scale};
pub(crate) use plan::reading_columns;
pub(crate) use publish::CountSource;
pub(crate) use request::{parse_columns, positive_epsilon, public_levels};
pub(crate) use tally::Cells;
