//! Models of counts that have an exact posterior: a tree of groups, the parties' noisy counts, and what a draw shows.

use organza_mcmc::ChainRng;

use super::circuit::{Circuit, PartyCounts};
use super::records::Records;
use super::shape::Shape;
use crate::InferError;
use crate::random::gamma;

/// A model of counts: how records divide into groups, and the noisy counts of one or more parties.
///
/// Made by [`CountModel::table`], [`CountModel::naive_bayes`] or [`CountModel::proportion`].
#[derive(Debug, Clone)]
pub struct CountModel {
    pub(super) shape: Shape,
    pub(super) parties: Vec<PartyCounts>,
    pub(super) blocks: Vec<Block>,
    pub(super) names: Vec<String>,
}

/// A vector of probabilities that sum to 1.
#[derive(Debug, Clone)]
pub(super) struct Block {
    /// The groups that they belong to.
    pub groups: Vec<usize>,
    pub concentrations: Vec<f64>,
    /// How many of them a draw shows: all, or all but the last of a proportion.
    pub shown: usize,
}

impl CountModel {
    /// Names of the values of a draw: probabilities, then numbers of records that are not public.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of parties.
    pub fn parties(&self) -> usize {
        self.parties.len()
    }

    /// Completes a model whose probabilities have these names.
    pub(super) fn assemble(
        shape: Shape,
        blocks: Vec<Block>,
        mut names: Vec<String>,
        parties: Vec<PartyCounts>,
    ) -> Self {
        let unknown = |party: &&PartyCounts| matches!(party.records, Records::Unknown { .. });
        names.extend(parties.iter().filter(unknown).map(|party| match parties.len() {
            1 => "records".to_string(),
            _ => format!("records[{}]", party.name),
        }));
        Self { shape, parties, blocks, names }
    }

    /// The sums of one party, given the counts of the others.
    pub(super) fn circuit(&self, party: usize, others: &[usize]) -> Result<Circuit, InferError> {
        let mut circuit = Circuit::new(&self.shape);
        let prepared = circuit.prepare(&self.shape, &self.parties[party], others);
        prepared.map_err(|reason| InferError::Setting { field: "releases", reason })?;
        Ok(circuit)
    }

    /// Draws the probabilities given the counts of all parties together, and copies what is known of their numbers of records.
    pub(super) fn write_position<'c>(
        &self,
        rng: &mut ChainRng,
        pooled: &[usize],
        roots: impl Iterator<Item = &'c usize>,
        out: &mut [f64],
    ) {
        let mut left = out;
        for block in &self.blocks {
            let (shown, rest) = left.split_at_mut(block.shown);
            draw_probabilities(rng, block, pooled, shown);
            left = rest;
        }
        let unknown = self.parties.iter().zip(roots);
        let unknown = unknown.filter(|(party, _)| matches!(party.records, Records::Unknown { .. }));
        left.iter_mut().zip(unknown).for_each(|(value, (_, records))| *value = *records as f64);
    }
}

/// Dirichlet probabilities given counts; those that are not shown only enter the sum.
fn draw_probabilities(rng: &mut ChainRng, block: &Block, pooled: &[usize], shown: &mut [f64]) {
    let mut total = 0.0;
    for (place, (group, concentration)) in block.groups.iter().zip(&block.concentrations).enumerate() {
        let value = gamma(rng, concentration + pooled[*group] as f64);
        total += value;
        if let Some(out) = shown.get_mut(place) {
            *out = value;
        }
    }
    if total > 0.0 {
        shown.iter_mut().for_each(|value| *value /= total);
    } else {
        // All have underflowed: concentrations near zero and no records, where the law is one probability of 1.
        let all: f64 = block.concentrations.iter().sum();
        let mut at = all * rand::RngExt::random::<f64>(rng);
        for (value, concentration) in shown.iter_mut().zip(&block.concentrations) {
            *value = f64::from(u8::from((0.0..*concentration).contains(&at)));
            at -= concentration;
        }
    }
}
