//! Posteriors from noisy contingency tables and from randomised answers, with counts as the state.
//!
//! The records of a table with finitely many kinds of records matter only through their counts. So the cost does not grow with the number
//! of records, and where the tables contain each other ([`CountModel::table`]) or form a naive Bayes model ([`CountModel::naive_bayes`]) the
//! posterior is summed out exactly: [`IndependentCounts`] draws from it without a chain, [`CollapsedGibbs`] combines several parties.
//! Tables that overlap in other ways are walked over ([`OverlappingTables`]); randomised answers have a likelihood in closed form
//! ([`AnswerDensity`]). [`fit`](crate::fit()) chooses among them.

mod circuit;
mod crossing;
mod evidence;
mod exact;
mod fit;
mod gibbs;
mod leaf;
mod model;
mod naive_bayes;
mod noise;
mod overlapping;
mod plain;
mod prior;
mod proportion;
mod randomised;
mod records;
mod saturated;
mod shape;
mod weights;

pub use evidence::TableEvidence;
pub use exact::{ExactCounts, IndependentCounts, IndependentCountsState};
pub use fit::TableSpec;
pub(crate) use fit::{fit_counts, fit_randomised};
pub use gibbs::{CollapsedGibbs, CollapsedGibbsState};
pub use model::CountModel;
pub use overlapping::{CellWalk, CellWalkInfo, CellWalkState, OverlappingTables};
pub use prior::TablePrior;
pub use proportion::NoisySuccesses;
pub use randomised::{AnswerAugmentation, AnswerAugmentationState, AnswerDensity, RandomisedAnswers};
pub use records::{NegativeBinomial, RecordsPrior};
