//! What a release did, told to a person or a machine.

use organza_curator::job::{Job, Outcome};
use organza_release::PrivacyLoss;
use serde_json::{Value, json};

use super::beside_table::spent;
use super::failure::{Failure, Status};
use super::terminal::{print_json, say, short, warn};

/// What a release costs.
pub struct Loss {
    /// Its epsilon.
    pub epsilon: f64,
    /// Its delta.
    pub delta: f64,
    /// Everything that the release says about it.
    pub stated: Value,
}

impl Loss {
    /// As a release states it.
    pub fn of(privacy: &PrivacyLoss) -> Self {
        Self { epsilon: privacy.epsilon, delta: privacy.delta, stated: json!(privacy) }
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
            "rows": outcome.counts.rows,
            "records": outcome.counts.records,
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
    say(&format!(
        "{}: {what} of {} records, ({}, {})-differentially private",
        job.output.display(),
        outcome.counts.records,
        short(loss.epsilon),
        short(loss.delta)
    ));
    if let (Some(charge), Some((path, account))) = (&outcome.charge, &job.ledger) {
        say(&spent(path, account, charge, "release"));
    }
    Ok(Status::Fine)
}
