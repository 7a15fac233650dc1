//! Tables that overlap without containing each other: the counts of all cells as a state that walks.
//!
//! **Target.** The probabilities of all cells of the crossed columns, Dirichlet a priori and integrated out of the walk, given any set of
//! noisy margins of any number of parties: up to a constant the log weight of the counts N_j of the parties is
//!
//! ```text
//! sum_c ln Gamma(sum_j N_jc + a_c) - ln Gamma(sum_j n_j + A) + sum_j [ln n_j! - sum_c ln N_jc! + ln p(n_j) + log noise].
//! ```
//!
//! **Exactness.** Exact in the limit of many draws. **Cost.** O(tables) for a move, a few moves per cell for a step.

mod start;
mod walk;

pub use walk::{CellWalk, CellWalkInfo, CellWalkState};

use super::crossing::Crossing;
use super::evidence::{PartyTables, TableEvidence};
use super::noise::Observation;
use super::prior::TablePrior;
use super::records::{Records, RecordsPrior};
use super::saturated::cell_labels;
use crate::InferError;

/// A saturated model of the cells of all columns that the tables use.
#[derive(Debug, Clone)]
pub struct OverlappingTables {
    pub(super) concentrations: Vec<f64>,
    pub(super) parties: Vec<Party>,
    /// How far apart in the list of cells two neighbouring levels of each column are, and the number of its levels.
    pub(super) strides: Vec<(usize, usize)>,
    names: Vec<String>,
}

/// What one party has released.
#[derive(Debug, Clone)]
pub(super) struct Party {
    pub records: Records,
    pub tables: Vec<Margin>,
}

/// A noisy margin.
#[derive(Debug, Clone)]
pub(super) struct Margin {
    /// The entry of the margin that every cell belongs to.
    pub entries: Vec<u32>,
    pub counts: Vec<Observation>,
}

impl OverlappingTables {
    /// The model of any tables.
    pub fn new(
        evidence: &TableEvidence,
        prior: &TablePrior,
        records: &RecordsPrior,
    ) -> Result<Self, InferError> {
        let tables = || evidence.parties.iter().flat_map(|party| &party.tables);
        let used = |column: &usize| {
            tables().any(|table: &super::evidence::NoisyTable| table.crossing.columns.contains(column))
        };
        let columns: Vec<usize> = (0..evidence.columns.len()).filter(used).collect();
        let cells = Crossing::new(columns, &evidence.columns);
        let labels = cell_labels(evidence, &cells)?;
        let concentrations = prior.concentrations(&labels, 1.0)?;
        prior.check_names(labels.iter())?;
        let party = |party: &PartyTables| -> Result<Party, InferError> {
            let margins = party.tables.iter().map(|table| Margin {
                entries: entries(&cells, &table.crossing, evidence.columns.len(), labels.len()),
                counts: table.counts.clone(),
            });
            Ok(Party { records: party.build_records(records)?, tables: margins.collect() })
        };
        let parties = evidence.parties.iter().map(party).collect::<Result<Vec<_>, _>>()?;
        let mut names: Vec<String> = labels.iter().map(|label| format!("p[{label}]")).collect();
        for (shown, party) in evidence.parties.iter().zip(&parties) {
            if matches!(party.records, Records::Unknown { .. }) {
                let several = parties.len() > 1;
                names.push(if several { format!("records[{}]", shown.name) } else { "records".into() });
            }
        }
        let mut strides: Vec<(usize, usize)> = Vec::new();
        let mut stride = 1;
        for column in cells.columns.iter().rev() {
            let levels = evidence.columns[*column].levels.len();
            strides.push((stride, levels));
            stride *= levels;
        }
        Ok(Self { concentrations, parties, strides, names })
    }

    /// Names of the values of a draw: probabilities, then numbers of records that are not public.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn cells(&self) -> usize {
        self.concentrations.len()
    }
}

/// The entry of a margin that every cell belongs to.
fn entries(cells: &Crossing, margin: &Crossing, columns: usize, size: usize) -> Vec<u32> {
    let mut levels = vec![0; columns];
    let entry = |cell: usize| {
        cells.write_levels(cell, &mut levels);
        margin.cell(&levels) as u32
    };
    (0..size).map(entry).collect()
}
