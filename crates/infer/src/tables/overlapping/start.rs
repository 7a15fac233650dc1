//! Where the walk begins: cells fitted to the noisy margins, from a random table.

use organza_mcmc::ChainRng;
use rand::RngExt;

use super::{OverlappingTables, Party};
use crate::random::gamma;

/// Rounds of proportional fitting; the walk does the rest.
const ROUNDS: usize = 20;

/// Counts of the cells of one party.
pub(super) fn counts(rng: &mut ChainRng, target: &OverlappingTables, party: &Party) -> Vec<usize> {
    let mut cells: Vec<f64> = target.concentrations.iter().map(|a| gamma(rng, a + 1.0)).collect();
    for _ in 0..ROUNDS {
        for table in &party.tables {
            let mut sums = vec![0.0; table.counts.len()];
            table.entries.iter().zip(&cells).for_each(|(entry, value)| sums[*entry as usize] += value);
            for (entry, value) in table.entries.iter().zip(&mut cells) {
                let place = *entry as usize;
                *value *= table.counts[place].value.max(0.5) / sums[place].max(1e-300);
            }
        }
    }
    let (low, high) = party.records.range();
    let total: f64 = cells.iter().sum();
    let records = (total.round().max(0.0) as usize).clamp(low, high);
    // Rounded so that they sum to the number of records: floors of running sums with one random offset.
    let (mut sum, mut before, offset) = (0.0, 0_usize, rng.random::<f64>());
    let last = cells.len() - 1;
    let round = |(place, value): (usize, &f64)| {
        sum += value / total * records as f64;
        let reached = if place == last { records } else { ((sum + offset) as usize).min(records) };
        let count = reached - before;
        before = reached;
        count
    };
    cells.iter().enumerate().map(round).collect()
}
