//! What a release did, told to a person or a machine.

use organza_curator::job::{Job, Outcome};
use serde_json::json;

use super::failure::{Failure, Status};
use super::terminal::{print_json, say, short, warn};

/// Tells a person on standard error, or a machine on standard output.
pub fn report(job: &Job, outcome: &Outcome, as_json: bool) -> Result<Status, Failure> {
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
            "privacy": outcome.release.privacy,
            "warnings": outcome.warnings,
            "ledger": outcome.charge,
        }))?;
        return Ok(Status::Fine);
    }
    let privacy = &outcome.release.privacy;
    let what = if outcome.releases == 1 {
        "1 release".to_string()
    } else {
        format!("{} releases", outcome.releases)
    };
    say(&format!(
        "{}: {what} of {} records, ({}, {})-differentially private",
        job.output.display(),
        outcome.counts.records,
        short(privacy.epsilon),
        short(privacy.delta)
    ));
    if let (Some(charge), Some((path, account))) = (&outcome.charge, &job.ledger) {
        let set = if charge.budget_was_set {
            format!(
                "; no budget was set, so it is now this release's own loss and is spent. To allow more: organza \
                 ledger budget {} --dataset {} --party {} --epsilon E --delta D",
                path.display(),
                account.dataset,
                account.party
            )
        } else {
            String::new()
        };
        say(&format!("{}: spent {} of {account}{set}", path.display(), charge.spent));
    }
    Ok(Status::Fine)
}
