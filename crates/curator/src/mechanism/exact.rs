//! What a plan can publish: exact statistics, lent for the moment of release.

use organza_release::Statistic;

use super::plan::Plan;
use crate::CuratorError;
use crate::gram::{IntegerGram, IntegerMoments};
use crate::sums::Measured;

/// An exact statistic, lent to [`Plan::publish`].
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Exact<'e> {
    /// Sums of products of two coordinates.
    Gram(&'e IntegerGram),
    /// The same and an integer below the smallest eigenvalue.
    AdaSsp(&'e IntegerGram, i128),
    /// Sums of products of four coordinates.
    FourthMoments(&'e IntegerMoments),
}

impl<'e> From<&'e IntegerGram> for Exact<'e> {
    fn from(gram: &'e IntegerGram) -> Self {
        Exact::Gram(gram)
    }
}

impl<'e> From<&'e Measured> for Exact<'e> {
    fn from(measured: &'e Measured) -> Self {
        match measured {
            Measured::Gram(gram) => Exact::Gram(gram),
            Measured::AdaSsp(gram, below) => Exact::AdaSsp(gram, *below),
            Measured::FourthMoments(moments) => Exact::FourthMoments(moments),
        }
    }
}

impl Exact<'_> {
    pub(super) fn records(self) -> u64 {
        match self {
            Exact::Gram(gram) | Exact::AdaSsp(gram, _) => gram.records(),
            Exact::FourthMoments(moments) => moments.records(),
        }
    }
}

impl Plan {
    /// The exact integers behind the released numbers, in order, on the lattice of the records' grid.
    pub(super) fn exact_integers(&self, exact: Exact<'_>) -> Result<Vec<i128>, CuratorError> {
        let pairs = |gram: &IntegerGram| -> Result<Vec<i128>, CuratorError> {
            let entry = |&[row, column]: &[usize; 2]| gram.entry(row, column).ok_or_else(wrong_kind);
            self.statistic.entries().iter().map(entry).collect()
        };
        match (&self.statistic, exact) {
            (Statistic::Gram { .. } | Statistic::AveragedGram { .. }, Exact::Gram(gram)) => pairs(gram),
            (Statistic::AdaSsp { .. }, Exact::AdaSsp(gram, below)) => {
                Ok(pairs(gram)?.into_iter().chain([below]).collect())
            }
            (Statistic::FourthMoments { .. }, Exact::FourthMoments(moments)) => Ok(moments.values().to_vec()),
            _ => Err(wrong_kind()),
        }
    }
}

fn wrong_kind() -> CuratorError {
    CuratorError::setting("statistic", "what was measured is not what was planned")
}
