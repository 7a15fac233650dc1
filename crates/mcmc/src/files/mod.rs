//! Draws as files.
//!
//! Both formats have the columns of R's posterior package: `.chain`, `.iteration` (within the chain) and
//! `.draw` (over all chains), counted from 1, then one column for each parameter, or for each statistic of
//! the steps. Values keep all their digits.
//!
//! In R, `posterior::as_draws_df(read.csv(file, check.names = FALSE))` reads the first format.

mod columns;
mod csv;
mod parquet;

pub use columns::Table;
pub use csv::write_csv;
pub use parquet::write_parquet;
