//! What every party released, in plain normalised units, and how it mapped its records.

use organza_release::{Domain, Family, RecordMap};

use crate::evidence::Party;
use crate::{Evidence, InferError};

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

/// Reads the releases; an error if one lacks something. A party without records says nothing.
pub(super) fn read(evidence: &Evidence) -> Result<Vec<Observed>, InferError> {
    let total = evidence.records().unwrap_or(0.0);
    if total > MOST_RECORDS {
        let needs =
            format!("at most {MOST_RECORDS} records in all, and there are {total}: marginal suits them");
        return Err(InferError::unsupported(&evidence.parties[0].name, "individual", &needs));
    }
    let parties: Result<Vec<Observed>, InferError> =
        evidence.parties.iter().map(|party| observed(evidence, party)).collect();
    Ok(parties?.into_iter().filter(|party| party.records > 0).collect())
}

fn observed(evidence: &Evidence, party: &Party) -> Result<Observed, InferError> {
    let lacks = |needs: &str| InferError::unsupported(&party.name, "individual", needs);
    let records = party.records.ok_or_else(|| lacks("a public number of records"))? as usize;
    if party.noise.averaged > 1 {
        return Err(lacks("sums over records that were not averaged"));
    }
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
    Ok(Observed { records, latent: records.max(least), map, family: party.noise.family, entries })
}
