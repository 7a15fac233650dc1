//! Naive Bayes: a class, and features that are independent given the class.
//!
//! **Target.** \[JAGR22\] section 4: the probabilities of the classes and, for every class, of the levels of every feature, each vector with
//! a Dirichlet prior, given noisy tables of the class with each feature. Given the count of a class its tables are independent over
//! features, so all counts are summed out exactly: cells to levels to classes to the number of records.
//!
//! | paper | code |
//! | --- | --- |
//! | p_i | `p[class=level]` |
//! | p^k_ij | `p[feature=level \| class=level]` |

use super::circuit::PartyCounts;
use super::evidence::{PartyTables, TableEvidence};
use super::model::{Block, CountModel};
use super::prior::TablePrior;
use super::records::RecordsPrior;
use super::shape::Shape;
use crate::InferError;

/// The paper's concentration.
const CONCENTRATION: f64 = 2.0;

/// The class, the features, and where their groups are.
struct Layout {
    class: usize,
    features: Vec<usize>,
    /// First group of the classes.
    classes: usize,
    /// First group of the levels of a feature, for every class and feature.
    cells: Vec<Vec<usize>>,
}

impl CountModel {
    /// Naive Bayes from tables of the class with single features; without a name the class is the column that all tables share.
    pub fn naive_bayes(
        evidence: &TableEvidence,
        prior: &TablePrior,
        records: &RecordsPrior,
        class: Option<&str>,
    ) -> Result<Self, InferError> {
        let class = find_class(evidence, class)?;
        let mut tree = Tree { prior, shape: Shape::new(), blocks: Vec::new(), labels: Vec::new() };
        let layout = Layout::new(evidence, class, &mut tree)?;
        prior.check_names(tree.labels.iter())?;
        let parties = evidence.parties.iter().map(|party| {
            let observations = layout.observe(party, tree.shape.groups().len(), evidence.columns.len());
            Ok(PartyCounts { name: party.name.clone(), records: party.build_records(records)?, observations })
        });
        let parties = parties.collect::<Result<_, InferError>>()?;
        let names = tree.labels.iter().map(|label| format!("p[{label}]")).collect();
        Ok(Self::assemble(tree.shape, tree.blocks, names, parties))
    }
}

/// A model while it grows.
struct Tree<'t> {
    prior: &'t TablePrior,
    shape: Shape,
    blocks: Vec<Block>,
    labels: Vec<String>,
}

impl Tree<'_> {
    /// Splits a group into children with these names; the first child is the answer.
    fn split(&mut self, group: usize, labels: Vec<String>) -> Result<usize, InferError> {
        let concentrations = self.prior.concentrations(&labels, CONCENTRATION)?;
        let children = self.shape.split(group, &concentrations);
        let first = children.start;
        self.blocks.push(Block { shown: children.len(), groups: children.collect(), concentrations });
        self.labels.extend(labels);
        Ok(first)
    }
}

/// The column that is named, or the one that all tables share.
pub(super) fn find_class(evidence: &TableEvidence, class: Option<&str>) -> Result<usize, InferError> {
    let wrong = |reason: String| InferError::Setting { field: "class", reason };
    if let Some(name) = class {
        let found = evidence.columns.iter().position(|column| column.name == name);
        return found.ok_or_else(|| wrong(format!("{name:?} is not a column of the releases")));
    }
    let tables = || evidence.parties.iter().flat_map(|party| &party.tables);
    let shared = (0..evidence.columns.len()).filter(|column| {
        tables()
            .filter(|table| !table.crossing.columns.is_empty())
            .all(|table| table.crossing.columns.contains(column))
    });
    match shared.collect::<Vec<_>>()[..] {
        [one] => Ok(one),
        [] => Err(wrong(
            "no column is in all tables: naive Bayes needs tables of the class with each feature".into(),
        )),
        _ => Err(wrong("several columns are in all tables: name the class".into())),
    }
}

/// The columns that stand in a table with the class.
fn find_features(evidence: &TableEvidence, class: usize) -> Result<Vec<usize>, InferError> {
    let mut features = Vec::new();
    for party in &evidence.parties {
        for table in &party.tables {
            let columns = &table.crossing.columns;
            match columns[..] {
                [] => {}
                [one] if one == class => {}
                [one, other] if one == class || other == class => {
                    features.push(if one == class { other } else { one })
                }
                _ => {
                    let needs = "tables of the class alone or with one feature";
                    return Err(InferError::unsupported(&party.name, "naive Bayes", needs));
                }
            }
        }
    }
    features.sort_unstable();
    features.dedup();
    match features.is_empty() {
        true => {
            Err(InferError::unsupported(&evidence.parties[0].name, "naive Bayes", "a table with a feature"))
        }
        false => Ok(features),
    }
}

impl Layout {
    /// Splits all records into classes, and every class by every feature.
    fn new(evidence: &TableEvidence, class: usize, tree: &mut Tree<'_>) -> Result<Self, InferError> {
        let (features, columns) = (find_features(evidence, class)?, &evidence.columns);
        let column = &columns[class];
        let names: Vec<String> =
            column.levels.iter().map(|level| format!("{}={level}", column.name)).collect();
        let classes = tree.split(0, names.clone())?;
        let mut cells = vec![Vec::new(); names.len()];
        for (place, name) in names.iter().enumerate() {
            for feature in &features {
                let column = &columns[*feature];
                let inside = column.levels.iter().map(|level| format!("{}={level} | {name}", column.name));
                cells[place].push(tree.split(classes + place, inside.collect())?);
            }
        }
        Ok(Self { class, features, classes, cells })
    }

    /// The noisy counts of every group.
    fn observe(
        &self,
        party: &PartyTables,
        groups: usize,
        columns: usize,
    ) -> Vec<Vec<super::noise::Observation>> {
        let (mut observations, mut levels) = (vec![Vec::new(); groups], vec![0; columns]);
        for table in &party.tables {
            let other = table.crossing.columns.iter().find(|column| **column != self.class);
            let feature = other.and_then(|column| self.features.iter().position(|known| known == column));
            for (cell, count) in table.counts.iter().enumerate() {
                table.crossing.write_levels(cell, &mut levels);
                let group = match (table.crossing.columns.len(), feature) {
                    (0, _) => 0,
                    (_, None) => self.classes + levels[self.class],
                    (_, Some(feature)) => {
                        self.cells[levels[self.class]][feature] + levels[self.features[feature]]
                    }
                };
                observations[group].push(*count);
            }
        }
        observations
    }
}
