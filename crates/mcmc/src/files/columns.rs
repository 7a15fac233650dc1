//! What the formats share.

use serde::{Deserialize, Serialize};

use crate::{ChainRecord, Draws};

/// The columns that say where a row comes from.
pub(super) const INDEX: [&str; 3] = [".chain", ".iteration", ".draw"];

/// Where a Parquet file keeps its [`Metadata`].
pub(super) const METADATA: &str = "organza/draws";

/// What a Parquet file says of itself, as JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Metadata {
    /// How far every chain got.
    pub(super) chains: Vec<ChainRecord>,
    /// The [`checksum`] of every column after the index.
    pub(super) checksums: Vec<u32>,
}

/// FNV-1a of the name of a column and the bits of its values: Parquet itself does not notice damaged values.
pub(super) fn checksum(name: &str, values: impl Iterator<Item = f64>) -> u32 {
    let add = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let hash = name.bytes().fold(0x811c_9dc5, add);
    values.fold(hash, |hash, value| value.to_bits().to_le_bytes().into_iter().fold(hash, add))
}

/// What to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Table {
    /// The values of the parameters.
    Parameters,
    /// The statistics of the steps.
    Statistics,
}

impl Table {
    pub(super) fn names(self, draws: &Draws) -> &[String] {
        match self {
            Table::Parameters => draws.names(),
            Table::Statistics => draws.statistic_names(),
        }
    }

    pub(super) fn values(self, draws: &Draws) -> &[f64] {
        match self {
            Table::Parameters => draws.values(),
            Table::Statistics => draws.statistics(),
        }
    }
}

/// Chain, iteration and draw of every row, counted from 1.
pub(super) fn index(records: &[ChainRecord]) -> impl Iterator<Item = [i64; 3]> + '_ {
    let chains = records.iter().enumerate();
    let rows = chains.flat_map(|(chain, record)| (0..record.draws).map(move |iteration| (chain, iteration)));
    rows.enumerate()
        .map(|(draw, (chain, iteration))| [chain, iteration, draw].map(|number| number as i64 + 1))
}
