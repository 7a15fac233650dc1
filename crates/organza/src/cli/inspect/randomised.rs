//! What a release of randomised answers holds and guarantees.

use std::path::Path;

use organza_release::{Answer, Neighbours, RandomisedClaim, RandomisedRelease, printable};
use serde_json::{Value, json};

use super::{Inspected, describe_missing, describe_relation, worth};
use crate::cli::release::randomised::error_per_root_record;
use crate::cli::terminal::{short, table};

/// Explains one release.
pub fn inspect(path: &Path, release: &RandomisedRelease) -> Inspected {
    let claim = release.claim();
    let answer = |(answer, epsilon): (&Answer, &f64)| {
        json!({
            "columns": answer.columns,
            "choices": release.choices(answer),
            "truth": answer.truth,
            "epsilon": epsilon,
        })
    };
    let answers: Vec<Value> = release.answers.iter().zip(&claim.answers).map(answer).collect();
    let json = json!({
        "file": path.display().to_string(),
        "kind": "randomised",
        "party": release.party,
        "records": release.records,
        "columns": release.columns,
        "answers": answers,
        "epsilon": release.epsilon,
        "claim": { "holds": claim.holds, "epsilon": claim.epsilon },
    });
    Inspected { text: explain(path, release, &claim), json, holds: claim.holds }
}

fn explain(path: &Path, release: &RandomisedRelease, claim: &RandomisedClaim) -> String {
    let verdict = match claim.holds {
        true => "follows from the probabilities".to_string(),
        false => format!("DOES NOT FOLLOW: the answers pay for epsilon {}", short(claim.epsilon)),
    };
    let head = format!(
        "{path}\n  party      {party}, {records} records, written {created} by {tool} {version}\n  \
         missing    {missing}\n  \
         guarantee  {epsilon}-differential privacy of every record on its own when {relation}\n             {verdict}\n             {worth}\n",
        path = printable(&path.display().to_string()),
        party = release.party,
        records = release.records,
        created = release.created,
        tool = release.tool.name,
        version = release.tool.version,
        missing = describe_missing(release.missing),
        epsilon = short(release.epsilon),
        relation = describe_relation(Neighbours::Substitute),
        worth = worth((claim.epsilon, 0.0), Neighbours::Substitute, Some(release.records)),
    );
    let root = (release.records as f64).sqrt();
    let rows = release.answers.iter().zip(&claim.answers).map(|(answer, epsilon)| {
        let choices = release.choices(answer);
        let error = error_per_root_record(answer.truth, choices) * root;
        let cells = [choices.to_string(), short(answer.truth), short(*epsilon), short(error)];
        std::iter::once(answer.columns.join(" by ")).chain(cells).collect()
    });
    head + &table(&["answers about", "choices", "truth", "epsilon", "error of a rare count"], rows)
}
