//! What both formats share.

use crate::Draws;

/// The columns that say where a row comes from.
pub(super) const INDEX: [&str; 3] = [".chain", ".iteration", ".draw"];

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
pub(super) fn index(draws: &Draws) -> impl Iterator<Item = [i64; 3]> + '_ {
    let chains = draws.records().iter().enumerate();
    let rows = chains.flat_map(|(chain, record)| (0..record.draws).map(move |iteration| (chain, iteration)));
    rows.enumerate()
        .map(|(draw, (chain, iteration))| [chain, iteration, draw].map(|number| number as i64 + 1))
}
