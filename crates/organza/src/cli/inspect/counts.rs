//! What a release of counts holds and guarantees.

use std::path::Path;

use organza_release::{Claim, CountRelease, LevelColumn, ReleaseError, cell_levels, printable};
use serde_json::json;

use super::{Inspected, claim_json, describe_missing, describe_relation, verdict};
use crate::cli::release::counts::{describe_table, family_name};
use crate::cli::terminal::{short, table};

/// Longer tables are cut for a person; machines get all of them.
const MOST_ROWS: usize = 200;

/// Explains one release.
pub fn inspect(path: &Path, release: &CountRelease) -> Result<Inspected, ReleaseError> {
    let claim = release.claim()?;
    let json = json!({
        "file": path.display().to_string(),
        "kind": "counts",
        "party": release.party,
        "records": release.records,
        "columns": release.columns,
        "tables": release.tables,
        "value": release.value,
        "noise": release.noise,
        "standard_deviation": release.noise.variance().sqrt(),
        "privacy": release.privacy,
        "claim": claim_json(&claim),
    });
    Ok(Inspected { text: explain(path, release, &claim), json, holds: claim.holds })
}

fn explain(path: &Path, release: &CountRelease, claim: &Claim) -> String {
    let privacy = &release.privacy;
    let records = release.records.map_or("confidential".to_string(), |records| records.to_string());
    let tables = release.tables.iter().map(|table| describe_table(table, &release.columns));
    let mut text = format!(
        "{path}\n  party      {party}, {records} records, written {created} by {tool} {version}\n  \
         counts     {tables}\n  missing    {missing}\n  \
         guarantee  ({epsilon}, {delta})-differential privacy when {relation}\n             {verdict}\n  \
         noise      {family} of scale {scale}, {norm:?} sensitivity {sensitivity} (exact): error of a count about {error}\n",
        path = printable(&path.display().to_string()),
        party = release.party,
        created = release.created,
        tool = release.tool.name,
        version = release.tool.version,
        tables = tables.collect::<Vec<_>>().join("; "),
        missing = describe_missing(release.missing),
        epsilon = short(privacy.epsilon),
        delta = short(privacy.delta),
        relation = describe_relation(privacy.neighbours),
        verdict = verdict(claim, privacy, release.records),
        family = family_name(release.noise.family),
        scale = short(release.noise.scale),
        norm = privacy.norm,
        sensitivity = short(claim.sensitivity.value),
        error = short(release.noise.variance().sqrt()),
    );
    for index in 0..release.tables.len() {
        text += &count_table(&release.table_columns(index), release.table_values(index));
    }
    text
}

/// One row per cell.
fn count_table(columns: &[&LevelColumn], values: &[f64]) -> String {
    if columns.is_empty() {
        return table(&["", "noisy count"], [vec!["records".to_string(), short(values[0])]]);
    }
    let header: Vec<&str> =
        columns.iter().map(|column| column.name.as_str()).chain(["noisy count"]).collect();
    let row = |(cell, value): (usize, &f64)| {
        let levels = cell_levels(columns, cell).into_iter().map(str::to_string);
        levels.chain([short(*value)]).collect()
    };
    let text = table(&header, values.iter().enumerate().take(MOST_ROWS).map(row));
    let more = values.len().saturating_sub(MOST_ROWS);
    if more > 0 { format!("{text}... and {more} more cells: --json prints all\n") } else { text }
}
