//! What is said of a fit: a table for people, JSON for machines.

use organza_infer::Fit;
use organza_mcmc::{ParameterSummary, Summary};
use serde_json::{Value, json};

use super::terminal::{fitting_table, prose, short};

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
    let records = fit.records.map_or(String::new(), |records| format!(" about {records} records"));
    let plural = if fit.releases == 1 { "" } else { "s" };
    let why = fit.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
    let head =
        format!("{} release{plural}{records}; method {} ({}){why}", fit.releases, fit.method, fit.sampler);
    let table = summary_table(&fit.summary, &fit.noise_share);
    // The column may have been left out.
    let explained = table.lines().take(3).any(|line| line.contains("due to noise"));
    let share = if explained {
        "; `due to noise` is the share of the posterior variance that privacy costs"
    } else {
        ""
    };
    let foot = format!("{} chains of {} draws{share}", fit.summary.chains, fit.summary.draws);
    prose(&head) + &table + &prose(&foot)
}

/// One row for each parameter; of the first ones the share of the variance that is due to noise may be known.
pub fn summary_table(summary: &Summary, noise_share: &[f64]) -> String {
    let interval = format!("{}% hdi", short(100.0 * summary.mass));
    // From the most to the least important.
    let mut header = vec!["", "mean", "sd", &interval, "", "r_hat", "ess bulk", "mcse", "ess tail"];
    let mut rows: Vec<Vec<String>> = summary.parameters.iter().map(cells).collect();
    if !noise_share.is_empty() {
        header.insert(7, "due to noise");
        let shares = noise_share.iter().map(|share| format!("{:.0}%", 100.0 * share));
        let shares = shares.chain(std::iter::repeat(String::new()));
        rows.iter_mut().zip(shares).for_each(|(row, share)| row.insert(7, share));
    }
    fitting_table(&header, &rows, 5)
}

/// What the table says of one parameter.
fn cells(row: &ParameterSummary) -> Vec<String> {
    vec![
        row.name.clone(),
        short(row.mean),
        short(row.sd),
        short(row.highest_density.lower),
        short(row.highest_density.upper),
        format!("{:.3}", row.r_hat),
        format!("{:.0}", row.ess_bulk),
        short(row.mcse_mean),
        format!("{:.0}", row.ess_tail),
    ]
}
