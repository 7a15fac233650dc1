//! Contingency tables: how many counts move between neighbours, exactly.
//!
//! A record is in exactly one cell of each of the T tables (the number of records, where it is released, is a table of
//! one cell).
//!
//! **Add-remove.** One record more adds one to one cell of every table: T counts move by one, whatever the record. L1 = T,
//! L2 = sqrt(T).
//!
//! **Substitute.** In every table one cell loses one and one cell gains one, or they are the same cell and nothing moves: at most
//! 2 T counts move by one. L1 <= 2 T, L2 <= sqrt(2 T). *Attained:* the record whose columns all have their first level and the
//! one whose columns all have their second differ in every column. A table with at least one column (the number of records is
//! public here) puts them into different cells.

use super::Bound;
use crate::privacy::{Neighbours, Norm};

/// The largest number of counts that move by one between neighbours.
pub fn moved_counts(tables: usize, neighbours: Neighbours) -> u64 {
    match neighbours {
        Neighbours::AddRemove => tables as u64,
        Neighbours::Substitute => 2 * tables as u64,
    }
}

/// Sensitivity of this many contingency tables.
pub fn counts(tables: usize, neighbours: Neighbours, norm: Norm) -> Bound {
    let moved = moved_counts(tables, neighbours) as f64;
    let value = match norm {
        Norm::L1 => moved,
        Norm::L2 => moved.sqrt(),
    };
    Bound { value, tight: true }
}
