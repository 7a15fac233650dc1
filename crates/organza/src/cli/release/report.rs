//! What a release did, told to a person or a machine.

use organza_curator::job::{Job, Outcome};
use organza_release::{Neighbours, PrivacyLoss};
use serde_json::{Value, json};

use crate::cli::beside_table::spent;
use crate::cli::failure::{Failure, Status};
use crate::cli::terminal::{print_json, say, short, warn};

/// What a release costs.
pub struct Loss {
    /// Its epsilon.
    pub epsilon: f64,
    /// Its delta.
    pub delta: f64,
    /// Everything that the release says about it.
    pub stated: Value,
    /// Whether the number of records is confidential: then it is not told here either.
    pub confidential: bool,
}

impl Loss {
    /// As a release states it.
    pub fn of(privacy: &PrivacyLoss) -> Self {
        Self {
            epsilon: privacy.epsilon,
            delta: privacy.delta,
            stated: json!(privacy),
            confidential: privacy.neighbours == Neighbours::AddRemove,
        }
    }
}

/// Tells a person on standard error, or a machine on standard output.
pub fn report<D>(job: &Job, outcome: &Outcome<D>, loss: &Loss, as_json: bool) -> Result<Status, Failure> {
    for warning in &outcome.warnings {
        warn(warning);
    }
    if as_json {
        print_json(&json!({
            "output": job.output.display().to_string(),
            "party": job.party,
            "releases": outcome.releases,
            "rows": (!loss.confidential).then_some(outcome.counts.rows),
            "records": (!loss.confidential).then_some(outcome.counts.records),
            "privacy": loss.stated,
            "warnings": outcome.warnings,
            "ledger": outcome.charge,
        }))?;
        return Ok(Status::Fine);
    }
    let what = if outcome.releases == 1 {
        "1 release".to_string()
    } else {
        format!("{} releases", outcome.releases)
    };
    let records = match loss.confidential {
        true => "a confidential number of".to_string(),
        false => outcome.counts.records.to_string(),
    };
    say(&format!(
        "{}: {what} of {records} records, ({}, {})-differentially private",
        job.output.display(),
        short(loss.epsilon),
        short(loss.delta)
    ));
    if let (Some(charge), Some((path, account))) = (&outcome.charge, &job.ledger) {
        say(&spent(path, account, charge, "release"));
    }
    Ok(Status::Fine)
}
