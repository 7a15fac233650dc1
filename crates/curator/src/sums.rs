//! The exact sums that a plan asks for, behind one interface.

use organza_release::Statistic;

use crate::CuratorError;
use crate::gram::{
    AveragedAccumulator, FourthMomentAccumulator, GramAccumulator, GramError, IntegerGram, IntegerMoments,
};
use crate::mechanism::Plan;

/// The exact statistic of a table or batch. It never leaves this crate without noise.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Measured {
    /// Sums of products of two coordinates.
    Gram(IntegerGram),
    /// The same, with the largest integer below the smallest eigenvalue of the regressors' block.
    AdaSsp(IntegerGram, i128),
    /// Sums of products of four coordinates.
    FourthMoments(IntegerMoments),
}

impl Measured {
    /// With the eigenvalue that adaSSP publishes besides. It is long work for many coordinates, so it is done before anything is charged.
    pub fn with_eigenvalue(gram: IntegerGram) -> Result<Self, CuratorError> {
        let below = gram.below_smallest_eigenvalue(gram.dimension() - 1);
        let below = below.ok_or_else(|| CuratorError::setting("statistic", "ada-ssp needs a regressor"))?;
        Ok(Measured::AdaSsp(gram, below))
    }

    /// Number of records that were measured.
    pub fn records(&self) -> u64 {
        match self {
            Measured::Gram(gram) | Measured::AdaSsp(gram, _) => gram.records(),
            Measured::FourthMoments(moments) => moments.records(),
        }
    }

    /// The Gram matrix, if that was measured.
    pub fn into_gram(self) -> Option<IntegerGram> {
        match self {
            Measured::Gram(gram) | Measured::AdaSsp(gram, _) => Some(gram),
            Measured::FourthMoments(_) => None,
        }
    }
}

/// Sums that grow block by block.
pub(crate) enum Sums {
    /// Of the records.
    Gram(GramAccumulator),
    /// Of the records, with an eigenvalue at the end.
    AdaSsp(GramAccumulator),
    /// Of runs of records in table order.
    Averaged(AveragedAccumulator),
    /// Of products of four coordinates.
    FourthMoments(FourthMomentAccumulator),
}

impl Sums {
    pub(crate) fn new(plan: &Plan) -> Self {
        let map = plan.record_map();
        match plan.statistic() {
            Statistic::Gram { .. } => Sums::Gram(GramAccumulator::new(map)),
            Statistic::AdaSsp { .. } => Sums::AdaSsp(GramAccumulator::new(map)),
            Statistic::AveragedGram { averaged, .. } => {
                Sums::Averaged(AveragedAccumulator::new(map, *averaged))
            }
            Statistic::FourthMoments { entries } => {
                Sums::FourthMoments(FourthMomentAccumulator::new(map, entries))
            }
        }
    }

    /// Whether blocks must come in table order, so that sums cannot be merged.
    pub(crate) fn need_order(plan: &Plan) -> bool {
        plan.statistic().averaged() > 1
    }

    pub(crate) fn add_block(&mut self, columns: &[&[f64]]) -> Result<(), CuratorError> {
        match self {
            Sums::Gram(sums) | Sums::AdaSsp(sums) => sums.add_block(columns)?,
            Sums::Averaged(sums) => sums.add_block(columns)?,
            Sums::FourthMoments(sums) => sums.add_block(columns)?,
        }
        Ok(())
    }

    pub(crate) fn merge(&mut self, other: Self) -> Result<(), CuratorError> {
        match (self, other) {
            (Sums::Gram(sums), Sums::Gram(more)) | (Sums::AdaSsp(sums), Sums::AdaSsp(more)) => {
                sums.merge(more)?
            }
            (Sums::FourthMoments(sums), Sums::FourthMoments(more)) => sums.merge(more)?,
            _ => return Err(GramError::DifferentMaps.into()),
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<Measured, CuratorError> {
        Ok(match self {
            Sums::Gram(sums) => Measured::Gram(sums.finish()),
            Sums::AdaSsp(sums) => Measured::with_eigenvalue(sums.finish())?,
            Sums::Averaged(sums) => Measured::Gram(sums.finish()),
            Sums::FourthMoments(sums) => Measured::FourthMoments(sums.finish()),
        })
    }
}
