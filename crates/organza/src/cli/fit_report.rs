//! What is said of a fit: a table for people, JSON for machines.

use organza_infer::Fit;
use organza_mcmc::ParameterSummary;
use serde_json::{Value, json};

use super::terminal::{short, table};

/// Everything that is said of a fit; with the draws it is all that prediction needs.
pub fn as_json(fit: &Fit) -> Value {
    let shares = fit.summary.parameters.iter().zip(&fit.noise_share);
    let shares: serde_json::Map<String, Value> =
        shares.map(|(row, share)| (row.name.clone(), json!(share))).collect();
    json!({
        "schema": "organza/fit/1",
        "method": fit.method,
        "sampler": fit.sampler,
        "reason": fit.reason,
        "releases": fit.releases,
        "records": fit.records,
        "residual_sd": fit.residual_sd,
        "noise_share": shares,
        "notes": fit.notes,
        "warnings": fit.summary.warnings(),
        "summary": fit.summary,
        "domain": fit.domain,
        "tool": { "name": "organza", "version": env!("CARGO_PKG_VERSION") },
    })
}

/// The table for a person, with the method and why.
pub fn table_of(fit: &Fit) -> String {
    let percent = short(100.0 * fit.summary.mass);
    let interval = format!("{percent}% hdi");
    let header = ["", "mean", "sd", &interval, "", "mcse", "ess bulk", "ess tail", "r_hat", "due to noise"];
    let shares = fit.noise_share.iter().map(Some).chain(std::iter::repeat(None));
    let rows = fit.summary.parameters.iter().zip(shares).map(|(row, share)| {
        let share = share.map_or(String::new(), |share| format!("{:.0}%", 100.0 * share));
        cells(row).into_iter().chain([share]).collect::<Vec<_>>()
    });
    let records = fit.records.map_or(String::new(), |records| format!(" about {records} records"));
    let plural = if fit.releases == 1 { "" } else { "s" };
    let why = fit.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
    format!(
        "{} release{plural}{records}; method {} ({}){why}\n{}{} chains of {} draws; `due to noise` is the share of the posterior variance that privacy costs\n",
        fit.releases,
        fit.method,
        fit.sampler,
        table(&header, rows),
        fit.summary.chains,
        fit.summary.draws,
    )
}

/// What the table says of one parameter.
pub fn cells(row: &ParameterSummary) -> Vec<String> {
    vec![
        row.name.clone(),
        short(row.mean),
        short(row.sd),
        short(row.highest_density.lower),
        short(row.highest_density.upper),
        short(row.mcse_mean),
        format!("{:.0}", row.ess_bulk),
        format!("{:.0}", row.ess_tail),
        format!("{:.3}", row.r_hat),
    ]
}
