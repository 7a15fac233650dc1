//! Draws as files.
//!
//! CSV and Parquet have the columns of R's posterior package: `.chain`, `.iteration` (within the chain) and
//! `.draw` (over all chains), counted from 1, then one column for each parameter, or for each statistic of
//! the steps. Values keep all their digits.
//!
//! In R, `posterior::as_draws_df(read.csv(file, check.names = FALSE))` reads the first format; in Python,
//! `arviz.from_netcdf(file)` reads netCDF. Parquet comes back as [`Draws`](crate::Draws).

mod columns;
mod csv;
mod netcdf;
mod parquet;
pub mod parquet_check;
mod read_parquet;
mod thrift;
mod variables;

pub use columns::Table;
pub use csv::write_csv;
pub use netcdf::write_netcdf;
pub use parquet::write_parquet;
pub use read_parquet::read_parquet;
