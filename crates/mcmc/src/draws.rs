//! What a run leaves: draws of all chains, with names.
//!
//! Values lie in one vector, chain by chain, draw by draw, parameter by parameter; statistics of the steps
//! lie beside them in the same order. Chains that were stopped early are shorter than the others.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::DrawsError;
use crate::diagnostics::Traces;
use crate::run::Outcome;

/// How a chain ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum End {
    /// It has all the draws of the plan.
    Complete,
    /// It was interrupted from outside.
    Interrupted,
    /// The target may not be asked any more.
    BudgetExhausted,
}

/// How far a chain got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainRecord {
    /// Draws that were kept.
    pub draws: usize,
    /// Steps that were taken, warm-up included.
    pub steps: usize,
    /// How it ended.
    pub end: End,
}

/// Draws of all chains.
#[derive(Debug, Clone, PartialEq)]
pub struct Draws {
    names: Vec<String>,
    values: Vec<f64>,
    statistic_names: Vec<String>,
    statistics: Vec<f64>,
    chains: Vec<ChainRecord>,
    /// First draw of each chain, counted over all chains, and the number of draws at the end.
    starts: Vec<usize>,
}

impl Draws {
    /// Draws from values in order: chain by chain, draw by draw, parameter by parameter.
    pub fn from_values(names: Vec<String>, chains: usize, values: Vec<f64>) -> Result<Self, DrawsError> {
        let row = names.len().max(1) * chains.max(1);
        let draws = if names.is_empty() || chains == 0 { 0 } else { values.len() / row };
        let expected = draws * names.len() * chains;
        if values.len() != expected {
            return Err(DrawsError::Size { field: "values", expected, found: values.len() });
        }
        let record = ChainRecord { draws, steps: draws, end: End::Complete };
        let draws = Self::assemble(names.len(), vec![record; chains], values);
        draws.named(names)
    }

    /// Draws of chains that may differ in length; `values` has a row for each draw of the records.
    #[cfg(feature = "files")]
    pub(crate) fn from_records(
        names: Vec<String>,
        records: Vec<ChainRecord>,
        values: Vec<f64>,
    ) -> Result<Self, DrawsError> {
        Self::assemble(names.len(), records, values).named(names)
    }

    /// Puts chains of equal dimension one after the other.
    pub(crate) fn from_outcomes(outcomes: Vec<Outcome>, statistic_names: Vec<String>) -> Self {
        let dimension = outcomes.iter().map(|outcome| outcome.dimension).max().unwrap_or(0);
        let records = outcomes.iter().map(|outcome| outcome.record).collect();
        let total = outcomes.iter().map(|outcome| outcome.values.len()).sum();
        let (mut values, mut statistics) = (Vec::with_capacity(total), Vec::new());
        for outcome in outcomes {
            values.extend(outcome.values);
            statistics.extend(outcome.statistics);
        }
        Self { statistic_names, statistics, ..Self::assemble(dimension, records, values) }
    }

    fn assemble(dimension: usize, chains: Vec<ChainRecord>, values: Vec<f64>) -> Self {
        let names = (1..=dimension).map(|number| format!("theta[{number}]")).collect();
        let mut starts = vec![0];
        starts.extend(chains.iter().scan(0, |end, chain| {
            *end += chain.draws;
            Some(*end)
        }));
        Self { names, values, statistic_names: Vec::new(), statistics: Vec::new(), chains, starts }
    }

    /// The same draws with names for the parameters; without them they are `theta[1]`, `theta[2]` and so on.
    ///
    /// Names must differ from each other, and must not begin with a dot: files use such names for chain and
    /// draw.
    pub fn named(mut self, names: Vec<String>) -> Result<Self, DrawsError> {
        // A run that was stopped before any chain had started does not know its dimension.
        if names.len() != self.names.len() && !self.values.is_empty() {
            let (expected, found) = (self.names.len(), names.len());
            return Err(DrawsError::Size { field: "parameter names", expected, found });
        }
        let mut seen = HashSet::new();
        for name in &names {
            let reason = match name {
                _ if name.is_empty() => "is empty",
                _ if name.starts_with('.') => "begins with a dot, which files reserve for chain and draw",
                _ if !seen.insert(name) => "is used twice",
                _ => continue,
            };
            return Err(DrawsError::Name { name: name.clone(), reason });
        }
        self.names = names;
        Ok(self)
    }

    /// The same draws in other units: `convert` writes one row of the new parameters from one of the old. Statistics of the
    /// steps stay as they are.
    pub fn converted(
        &self,
        names: Vec<String>,
        mut convert: impl FnMut(&[f64], &mut [f64]),
    ) -> Result<Self, DrawsError> {
        let width = names.len();
        let mut values = vec![0.0; self.total() * width];
        let rows = self.values.chunks_exact(self.names.len().max(1));
        rows.zip(values.chunks_exact_mut(width.max(1))).for_each(|(old, new)| convert(old, new));
        let placeholder = (1..=width).map(|number| format!("theta[{number}]")).collect();
        Self { names: placeholder, values, ..self.clone() }.named(names)
    }

    /// Names of the parameters.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of chains, those without draws included.
    pub fn chains(&self) -> usize {
        self.chains.len()
    }

    /// How far every chain got.
    pub fn records(&self) -> &[ChainRecord] {
        &self.chains
    }

    /// Draws of all chains together.
    pub fn total(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Whether every chain has all the draws of the plan.
    pub fn is_complete(&self) -> bool {
        self.chains.iter().all(|chain| chain.end == End::Complete)
    }

    /// All values, chain by chain, draw by draw, parameter by parameter.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Values of one draw, or `None` if the chain has no such draw.
    pub fn draw(&self, chain: usize, draw: usize) -> Option<&[f64]> {
        let row = self.starts.get(chain)? + draw;
        let inside = draw < self.chains.get(chain)?.draws;
        inside.then(|| &self.values[row * self.names.len()..(row + 1) * self.names.len()])
    }

    /// All draws of one parameter, chain by chain, or `None` if there is no such parameter.
    pub fn parameter(&self, name: &str) -> Option<Vec<Vec<f64>>> {
        let place = self.names.iter().position(|known| known == name)?;
        Some(self.columns(&self.values, self.names.len(), place))
    }

    /// Draws of one parameter as diagnostics want them, or `None` if there is no such parameter; see
    /// [`Traces`] for chains of unequal length.
    pub fn traces(&self, name: &str) -> Option<Traces> {
        self.parameter(name).map(|chains| Traces::new(&chains))
    }

    /// Names of the statistics of steps.
    pub fn statistic_names(&self) -> &[String] {
        &self.statistic_names
    }

    /// All statistics, chain by chain, draw by draw, statistic by statistic.
    pub fn statistics(&self) -> &[f64] {
        &self.statistics
    }

    /// One statistic of all draws, chain by chain, or `None` if the method does not report it.
    pub fn statistic(&self, name: &str) -> Option<Vec<Vec<f64>>> {
        let place = self.statistic_names.iter().position(|known| known == name)?;
        Some(self.columns(&self.statistics, self.statistic_names.len(), place))
    }

    /// The sum of a statistic over all draws, for instance the number of divergences, or `None` if the method
    /// does not report it.
    pub fn statistic_total(&self, name: &str) -> Option<f64> {
        self.statistic(name).map(|chains| chains.iter().flatten().sum())
    }

    fn columns(&self, table: &[f64], width: usize, place: usize) -> Vec<Vec<f64>> {
        let of_chain = |ends: &[usize]| {
            let rows = table[ends[0] * width..ends[1] * width].chunks_exact(width);
            rows.map(|row| row[place]).collect()
        };
        self.starts.windows(2).map(of_chain).collect()
    }
}
