//! What is said of a fit to a person: a table, with what was done and why.

use organza_infer::{Fit, Method, Model};
use organza_mcmc::{ParameterSummary, Summary};

use crate::cli::terminal::{fitting_table, prose, short};

/// The table for a person, with the method and why.
pub fn table_of(fit: &Fit) -> String {
    let records = fit.records.map_or(String::new(), |records| format!(" about {records} records"));
    let plural = if fit.releases == 1 { "" } else { "s" };
    let why = fit.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
    let how = match (fit.model, fit.method) {
        (Model::Linear | Model::Normal, Some(method)) => format!("method {method}"),
        (model, _) => format!("model {model}"),
    };
    let head = format!("{} release{plural}{records}; {how} ({}){why}", fit.releases, fit.sampler);
    let table = summary_table(&fit.summary, &fit.noise_share);
    // The column may have been left out.
    let explained = table.lines().take(3).any(|line| line.contains("due to noise"));
    let share = if explained {
        "; `due to noise` is the share of the posterior variance that privacy costs"
    } else {
        ""
    };
    let acceptance = acceptance(fit);
    let foot = format!("{} chains of {} draws{share}{acceptance}", fit.summary.chains, fit.summary.draws);
    prose(&head) + &table + &prose(&foot)
}

/// How often latent records moved: it says little of how well a chain mixes, so it comes last.
fn acceptance(fit: &Fit) -> String {
    let latent = fit.model.is_of_levels() || fit.method == Some(Method::Augmentation);
    let rates = fit.draws.statistic("acceptance").filter(|_| latent).map(|chains| chains.concat());
    let rates = rates.unwrap_or_default();
    if rates.is_empty() {
        return String::new();
    }
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    format!("; proposals of records accepted {:.1}%", 100.0 * mean)
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
