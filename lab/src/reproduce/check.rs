//! Do the stored verdicts still follow from the stored results?

use serde::Serialize;

use super::files::Identity;
use super::publish::verdicts_file;
use super::{Experiment, ReproduceError, Results, Settings};

/// A verdict that no longer holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Place in the paper.
    pub place: String,
    /// The stored verdict; none if the comparison is new.
    pub before: Option<String>,
    /// The verdict now; none if the comparison is gone.
    pub now: Option<String>,
}

/// Recomputes the verdicts and compares them, word by word, with the stored ones.
pub fn check(
    experiment: &dyn Experiment,
    settings: &Settings,
    results: &Results,
) -> Result<Vec<Change>, ReproduceError> {
    let path = verdicts_file(&Identity::of(experiment, settings), &settings.folder);
    let text = std::fs::read_to_string(&path)
        .map_err(|error| ReproduceError::file(&path, format!("{error}; run without --check first")))?;
    let before: Vec<(String, String)> = text.lines().skip(1).filter_map(stored_verdict).collect();
    let report = experiment.report(settings.variant, results);
    let mut changes = Vec::new();
    for line in &report.lines {
        let place = line.place.clone();
        let now = line.verdict.word().to_string();
        let known = before.iter().find(|(place, _)| *place == line.place).map(|(_, verdict)| verdict.clone());
        if known.as_ref() != Some(&now) {
            changes.push(Change { place, before: known, now: Some(now) });
        }
    }
    for (place, verdict) in before {
        if report.lines.iter().all(|line| line.place != place) {
            changes.push(Change { place, before: Some(verdict), now: None });
        }
    }
    Ok(changes)
}

/// Place and first word of the verdict of a stored line.
fn stored_verdict(line: &str) -> Option<(String, String)> {
    let fields: Vec<&str> = line.split(';').collect();
    let word = fields.get(4)?.split([':', ' ']).next()?;
    Some((fields[0].to_string(), word.to_string()))
}
