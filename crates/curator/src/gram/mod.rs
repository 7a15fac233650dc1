//! The exact Gram pass: records become integer vectors inside a public domain, and the sum of their outer
//! products is formed without rounding.
//!
//! A [`RecordDomain`] says which records are possible. A [`RecordMap`] turns any record, however wild, into an
//! integer vector of that domain (its bounds are proven in [`RecordMap`]'s documentation and hold for every input,
//! even `NaN`). A [`GramAccumulator`] adds blocks of rows, and [`IntegerGram`] is the result.
//!
//! The result is a sum of integers, so it is the same bits for every order of the rows, size of the blocks, number
//! of threads, order of merging and processor. Only plain `+ - * / sqrt` and rounding to integers are used before
//! the integers exist, one operation at a time, never fused.

mod accumulator;
mod averaged;
mod block;
mod domain;
mod error;
mod fourth_moments;
mod minors;
pub mod product;
mod record_map;
mod smallest_eigenvalue;
#[cfg(test)]
mod tests;

pub use accumulator::{GramAccumulator, IntegerGram};
pub use averaged::{AveragedAccumulator, MAXIMUM_AVERAGED};
pub use domain::RecordDomain;
pub use error::GramError;
pub use fourth_moments::{FourthMomentAccumulator, IntegerMoments};
pub use record_map::RecordMap;
