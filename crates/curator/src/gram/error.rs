//! What can be wrong with a domain, a block or a merge.

use thiserror::Error;

/// Why a record map could not be built or a block could not be added. No message contains a value of the table.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum GramError {
    /// A parameter is not a positive finite number.
    #[error("{parameter} is {value}: give a positive finite number")]
    NotPositive {
        /// Which parameter.
        parameter: &'static str,
        /// The value that was given.
        value: f64,
    },
    /// The bounds of a column are not an interval that can be normalised.
    #[error(
        "column {column} has bounds [{lower}, {upper}]: give finite bounds with lower < upper, whose width is neither 0 nor infinite in f64"
    )]
    Bounds {
        /// Position of the column: features first, the response last.
        column: usize,
        /// The lower bound that was given.
        lower: f64,
        /// The upper bound that was given.
        upper: f64,
    },
    /// A weight is not a multiple of the grid's step, so records at the bound would leave the domain or be biased.
    #[error("the {parameter} {value} is not on the grid: use {nearest} (see RecordMap::grid_floor)")]
    OffGrid {
        /// Which weight.
        parameter: &'static str,
        /// The value that was given.
        value: f64,
        /// The largest grid point that is not above it.
        nearest: f64,
    },
    /// The radius is so small that rounding to the grid would fill the ball.
    #[error(
        "radius {radius} is too small for {grid_bits} grid bits and {coordinates} coordinates: use more bits"
    )]
    RadiusTooSmall {
        /// The radius of the scaled records.
        radius: f64,
        /// Bits of the grid.
        grid_bits: u32,
        /// Number of coordinates that share the radius.
        coordinates: usize,
    },
    /// Integer coordinates could exceed the range in which products are exact.
    #[error("a coordinate could reach {reach} grid steps, at most {limit} are exact: use fewer grid bits")]
    GridTooFine {
        /// Largest coordinate, in grid steps.
        reach: f64,
        /// Largest allowed coordinate.
        limit: f64,
    },
    /// More coordinates than the proof of the bounds allows.
    #[error("records would have {dimension} coordinates, at most {limit} are supported: use fewer features")]
    TooManyCoordinates {
        /// Coordinates of a record.
        dimension: usize,
        /// Largest allowed number.
        limit: usize,
    },
    /// A record or block has the wrong number of columns.
    #[error("{found} columns were given, the record map has {expected}: features first, the response last")]
    ColumnCount {
        /// Columns of the map.
        expected: usize,
        /// Columns of the block.
        found: usize,
    },
    /// The columns of a block differ in length.
    #[error(
        "column {column} has {found} rows, column 0 has {expected}: all columns of a block need the same length"
    )]
    RowCount {
        /// The column that differs.
        column: usize,
        /// Rows of column 0.
        expected: usize,
        /// Rows of that column.
        found: usize,
    },
    /// Two accumulators of different record maps cannot be merged.
    #[error("accumulators of different record maps cannot be merged: build all of them from one map")]
    DifferentMaps,
}
