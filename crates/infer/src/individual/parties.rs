//! What every party released, in plain normalised units, and how it mapped its records.

use organza_release::{Domain, Family, RecordMap};

use crate::Evidence;
use crate::evidence::Party;
use crate::judge::Accepted;

/// Latent records beyond this number make no sense: sums over them are normal, and `marginal` needs none.
pub(crate) const MOST_RECORDS: f64 = 20_000.0;

/// One party's release.
#[derive(Debug, Clone)]
pub(super) struct Observed {
    /// Records in the released sums.
    pub records: usize,
    /// Latent records: those and, if they are very few, some that nobody counted, so that their moments always have a
    /// density. The posterior of the parameters is the same.
    pub latent: usize,
    pub map: RecordMap,
    pub family: Family,
    pub entries: Vec<Entry>,
}

/// A noisy sum of products.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub row: usize,
    pub column: usize,
    pub value: f64,
    pub scale: f64,
}

/// Reads the releases.
pub(super) fn read(evidence: Accepted<'_>) -> Vec<Observed> {
    evidence.counted().map(|(party, records)| observed(&evidence, party, records as usize)).collect()
}

fn observed(evidence: &Evidence, party: &Party, records: usize) -> Observed {
    let size = party.size();
    let (weights, scales) = (&party.noise.weights, &party.noise.scales);
    let upper = (0..size).flat_map(|row| (row..size).map(move |column| (row, column)));
    let entry = |(row, column): (usize, usize)| {
        let (place, weight) = (row * size + column, weights[row] * weights[column]);
        Entry { row, column, value: party.gram[place] / weight, scale: scales[place] / weight }
    };
    // A scale of 0 is that of the constant's own square, the public number of records.
    let entries = upper.map(entry).filter(|entry| entry.scale > 0.0 && entry.scale.is_finite()).collect();
    let map = match evidence.domain() {
        Domain::Box(domain) => {
            RecordMap::of_box(domain.intercept.then_some(weights[0]), party.noise.record_scale)
        }
        Domain::Ball(_) => RecordMap::of_ball(),
    };
    let least = size + 1;
    Observed { records, latent: records.max(least), map, family: party.noise.family, entries }
}
