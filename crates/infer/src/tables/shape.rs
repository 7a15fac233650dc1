//! How the records of a table divide into groups, and these again: the tree that all exact methods work on.
//!
//! A group has a count. A split divides the records of a group among its children with probabilities that have a Dirichlet prior; a
//! group may be split in several ways at once, independently of each other (the features of naive Bayes). With the probabilities
//! integrated out, a split of m records has the weight m! / Gamma(m + A) times the product of Gamma(m_c + a_c) / m_c! over its children,
//! A = sum a_c (the Dirichlet-multinomial law), which factorises: that is all that the methods need.

use std::ops::Range;

/// A tree of groups; the root is group 0 and holds all records. Parents come before children.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    groups: Vec<Group>,
    splits: Vec<Split>,
}

/// Records of one kind.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// Its concentration in the split that made it; 0 for the root.
    pub concentration: f64,
    /// The ways in which it is split.
    pub splits: Vec<usize>,
}

/// One way to divide a group.
#[derive(Debug, Clone)]
pub(super) struct Split {
    pub group: usize,
    pub children: Range<usize>,
    /// Sum of the children's concentrations.
    pub concentration: f64,
}

impl Shape {
    /// All records in one group.
    pub fn new() -> Self {
        Self { groups: vec![Group { concentration: 0.0, splits: vec![] }], splits: vec![] }
    }

    /// Splits a group; its children are the answer.
    pub fn split(&mut self, group: usize, concentrations: &[f64]) -> Range<usize> {
        let children = self.groups.len()..self.groups.len() + concentrations.len();
        self.groups[group].splits.push(self.splits.len());
        let concentration = concentrations.iter().sum();
        self.splits.push(Split { group, children: children.clone(), concentration });
        let group = |concentration: &f64| Group { concentration: *concentration, splits: vec![] };
        self.groups.extend(concentrations.iter().map(group));
        children
    }

    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    pub fn splits(&self) -> &[Split] {
        &self.splits
    }
}
