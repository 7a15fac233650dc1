//! What is said of a posterior of probabilities or log odds: a table for people, JSON for machines.

use organza_infer::LogisticFit;
use organza_infer::tables::TableFit;
use organza_mcmc::{Draws, Summary};
use serde_json::{Value, json};

use super::fit_report::summary_table;
use super::terminal::prose;

/// The parts of a posterior that are printed and kept.
pub struct Posterior {
    /// The model's one word.
    pub model: &'static str,
    pub sampler: String,
    /// Why this sampler.
    pub reason: String,
    pub draws: Draws,
    pub summary: Summary,
    pub notes: Vec<String>,
    pub releases: usize,
    pub records: Option<f64>,
}

impl Posterior {
    pub fn of_table(model: &'static str, fit: TableFit) -> Self {
        let TableFit { sampler, reason, draws, summary, notes, releases, records, .. } = fit;
        let (sampler, reason) = (sampler.to_string(), reason.to_string());
        let records = records.map(|records| records as f64);
        Self { model, sampler, reason, draws, summary, notes, releases, records }
    }

    pub fn of_logistic(model: &'static str, fit: LogisticFit) -> Self {
        let LogisticFit { sampler, draws, summary, notes, releases, records, .. } = fit;
        let reason = "every record is latent, clamping included".into();
        Self { model, sampler: sampler.to_string(), reason, draws, summary, notes, releases, records }
    }

    /// Everything that is said of it.
    pub fn as_json(&self) -> Value {
        json!({
            "schema": "organza/augment/1",
            "model": self.model,
            "sampler": self.sampler,
            "reason": self.reason,
            "releases": self.releases,
            "records": self.records,
            "notes": self.notes,
            "warnings": self.summary.warnings(),
            "summary": self.summary,
            "tool": { "name": "organza", "version": env!("CARGO_PKG_VERSION") },
        })
    }

    /// The table for a person, with the sampler and why. Rates of acceptance say little of how well a chain mixes: they come last.
    pub fn table(&self) -> String {
        let records = self.records.map_or(String::new(), |records| format!(" about {records} records"));
        let plural = if self.releases == 1 { "" } else { "s" };
        let head = format!(
            "{} release{plural}{records}; model {} ({}): {}",
            self.releases, self.model, self.sampler, self.reason
        );
        let Summary { chains, draws, .. } = self.summary;
        let foot = format!("{chains} chains of {draws} draws{}", self.acceptance());
        prose(&head) + &summary_table(&self.summary, &[]) + &prose(&foot)
    }

    fn acceptance(&self) -> String {
        let rates = self.draws.statistic("acceptance").map(|chains| chains.concat()).unwrap_or_default();
        if rates.is_empty() {
            return String::new();
        }
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        format!("; proposals of records accepted {:.1}%", 100.0 * mean)
    }
}
