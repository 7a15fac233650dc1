//! Releases of fourth moments beside those of Gram matrices, for `gibbs-noisy`.

use organza_release::{Release, Statistic};

use crate::{Evidence, FourthMoments, InferError};

/// Splits releases into Gram matrices and fourth moments.
pub(super) fn split(releases: &[Release]) -> (Vec<&Release>, Vec<&Release>) {
    let is_fourth = |release: &&Release| matches!(release.statistic, Statistic::FourthMoments { .. });
    releases.iter().partition(|release| !is_fourth(release))
}

/// The fourth moments of all parties together; every party of the evidence must have released its own.
pub(super) fn combine(evidence: &Evidence, releases: &[&Release]) -> Result<FourthMoments, InferError> {
    let has = |party: &str| releases.iter().any(|release| release.party == party);
    if let Some(party) = evidence.parties.iter().find(|party| !has(&party.name)) {
        let needs = "a release of fourth moments too";
        return Err(InferError::unsupported(&party.name, "gibbs-noisy", needs));
    }
    let (mut entries, mut sums, mut records) = (Vec::new(), Vec::new(), 0.0);
    for release in releases {
        let Statistic::FourthMoments { entries: own } = &release.statistic else { continue };
        if release.domain.feature_names() != evidence.domain().feature_names() {
            return Err(InferError::Disagreement {
                first: evidence.parties[0].name.clone(),
                second: release.party.clone(),
                field: "the features",
                expected: evidence.domain().feature_names().join(", "),
                found: release.domain.feature_names().join(", "),
            });
        }
        if entries.is_empty() {
            (entries, sums) = (own.clone(), vec![0.0; own.len()]);
        }
        sums.iter_mut().zip(&release.value).for_each(|(sum, value)| *sum += value);
        records += release.records.unwrap_or(0) as f64;
    }
    FourthMoments::new(evidence.dimension(), &entries, &sums, records)
}
