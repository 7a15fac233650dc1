//! Tables that contain each other: every cell of the largest has its own probability.
//!
//! **Target.** The probabilities of the cells, Dirichlet a priori, and with unknown numbers of records those too. A table, its margins and
//! the total number may all have been released, as long as of every two tables one is a margin of the other: then the cells of the
//! smaller are the groups that the larger divides further, and the concentration of a group is the sum of those of its cells.

use super::circuit::PartyCounts;
use super::crossing::Crossing;
use super::evidence::{LARGEST_TABLE, PartyTables, TableEvidence};
use super::model::{Block, CountModel};
use super::prior::TablePrior;
use super::records::RecordsPrior;
use super::shape::Shape;
use crate::InferError;

/// The groups of the cells of one table.
struct Level {
    crossing: Crossing,
    groups: Vec<usize>,
}

impl CountModel {
    /// Probabilities of all cells of the crossed columns; the released tables must contain each other.
    pub fn table(
        evidence: &TableEvidence,
        prior: &TablePrior,
        records: &RecordsPrior,
    ) -> Result<Self, InferError> {
        let sets = chain_of(evidence).ok_or_else(|| {
            let party = &evidence.parties[0].name;
            InferError::unsupported(party, "the exact table", "tables of which one contains the other")
        })?;
        let crossings: Vec<Crossing> =
            sets.into_iter().map(|set| Crossing::new(set, &evidence.columns)).collect();
        let finest = crossings.last().cloned().unwrap_or_else(|| Crossing::new(vec![], &[]));
        let labels = cell_labels(evidence, &finest)?;
        let concentrations = prior.concentrations(&labels, 1.0)?;
        prior.check_names(labels.iter())?;
        let (shape, levels) = nest(evidence, crossings, &finest, &concentrations);
        let parties = evidence.parties.iter().map(|party| {
            let observations = observe(party, &levels, shape.groups().len(), evidence.columns.len());
            Ok(PartyCounts { name: party.name.clone(), records: party.build_records(records)?, observations })
        });
        let parties = parties.collect::<Result<_, InferError>>()?;
        let groups = levels.last().map(|level| level.groups.clone()).unwrap_or_default();
        let block = Block { shown: groups.len(), groups, concentrations };
        let names = labels.iter().map(|label| format!("p[{label}]")).collect();
        Ok(Self::assemble(shape, vec![block], names, parties))
    }
}

/// The column sets of all tables from the smallest to the largest, if they contain each other; totals left out.
pub(super) fn chain_of(evidence: &TableEvidence) -> Option<Vec<Vec<usize>>> {
    let mut sets: Vec<Vec<usize>> = Vec::new();
    for table in evidence.parties.iter().flat_map(|party| &party.tables) {
        let mut set = table.crossing.columns.clone();
        set.sort_unstable();
        if !set.is_empty() && !sets.contains(&set) {
            sets.push(set);
        }
    }
    sets.sort_by_key(Vec::len);
    let nested = sets.windows(2).all(|pair| pair[0].iter().all(|column| pair[1].contains(column)));
    (nested && !sets.is_empty()).then_some(sets)
}

/// Names of the cells of crossed columns.
pub(super) fn cell_labels(evidence: &TableEvidence, cells: &Crossing) -> Result<Vec<String>, InferError> {
    let size = cells.size().filter(|size| *size <= LARGEST_TABLE).ok_or_else(|| {
        InferError::counts(&evidence.parties[0].name, "columns", "have too many cells when crossed")
    })?;
    Ok((0..size).map(|cell| cells.label(cell, &evidence.columns)).collect())
}

/// The tree: level by level, every group divided by the columns that the next table adds.
fn nest(
    evidence: &TableEvidence,
    crossings: Vec<Crossing>,
    finest: &Crossing,
    concentrations: &[f64],
) -> (Shape, Vec<Level>) {
    let mut levels = vec![0; evidence.columns.len()];
    let mut shape = Shape::new();
    let mut nested = vec![Level { crossing: Crossing::new(vec![], &[]), groups: vec![0] }];
    for crossing in crossings {
        let size = crossing.size().unwrap_or(0);
        let mut sums = vec![0.0; size];
        for (cell, concentration) in concentrations.iter().enumerate() {
            finest.write_levels(cell, &mut levels);
            sums[crossing.cell(&levels)] += concentration;
        }
        let coarse = &nested[nested.len() - 1];
        let mut members = vec![Vec::new(); coarse.groups.len()];
        for cell in 0..size {
            crossing.write_levels(cell, &mut levels);
            members[coarse.crossing.cell(&levels)].push(cell);
        }
        let mut groups = vec![0; size];
        for (parent, cells) in coarse.groups.iter().zip(&members) {
            let inside: Vec<f64> = cells.iter().map(|cell| sums[*cell]).collect();
            let children = shape.split(*parent, &inside);
            cells.iter().zip(children).for_each(|(cell, group)| groups[*cell] = group);
        }
        nested.push(Level { crossing, groups });
    }
    (shape, nested)
}

/// The noisy counts of every group.
fn observe(
    party: &PartyTables,
    nested: &[Level],
    groups: usize,
    columns: usize,
) -> Vec<Vec<super::noise::Observation>> {
    let (mut observations, mut levels) = (vec![Vec::new(); groups], vec![0; columns]);
    for table in &party.tables {
        let mut set = table.crossing.columns.clone();
        set.sort_unstable();
        let level = nested.iter().find(|level| level.crossing.columns == set);
        for (cell, count) in table.counts.iter().enumerate() {
            table.crossing.write_levels(cell, &mut levels);
            if let Some(level) = level {
                observations[level.groups[level.crossing.cell(&levels)]].push(*count);
            }
        }
    }
    observations
}
