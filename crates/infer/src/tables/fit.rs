//! From releases of counts or answers to a finished result.

use std::fmt;
use std::str::FromStr;

use organza_mcmc::{Draws, Kernel, Monitor, Nuts, Plan, Summary, run_monitored};
use organza_release::{CountRelease, RandomisedRelease};
use serde::{Deserialize, Serialize};

use super::plain::plain;
use super::saturated::chain_of;
use super::{
    AnswerAugmentation, AnswerDensity, CellWalk, CollapsedGibbs, CountModel, ExactCounts, IndependentCounts,
    OverlappingTables, RandomisedAnswers, RecordsPrior, TableEvidence, TablePrior,
};
use crate::InferError;
use crate::method::find;

/// What the cells have to do with each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TableModel {
    /// Nothing: every cell has its own probability.
    #[default]
    Table,
    /// Features are independent given a class.
    NaiveBayes,
}

/// How draws are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TableSampler {
    /// Independent draws, counts summed out: one party.
    Exact,
    /// One party's counts at a time, given those of the others.
    Gibbs,
    /// A walk on the counts of all cells.
    Metropolis,
    /// The No-U-Turn sampler, for randomised answers.
    Nuts,
    /// Latent counts given probabilities and probabilities given counts, for randomised answers.
    Augmentation,
    /// The paper's chain over latent records, for noisy tables.
    Plain,
}

impl TableSampler {
    const ALL: [TableSampler; 6] = [
        TableSampler::Exact,
        TableSampler::Gibbs,
        TableSampler::Metropolis,
        TableSampler::Nuts,
        TableSampler::Augmentation,
        TableSampler::Plain,
    ];

    /// Its one word.
    pub fn word(self) -> &'static str {
        match self {
            TableSampler::Exact => "exact",
            TableSampler::Gibbs => "gibbs",
            TableSampler::Metropolis => "metropolis",
            TableSampler::Nuts => "nuts",
            TableSampler::Augmentation => "augmentation",
            TableSampler::Plain => "plain",
        }
    }
}

impl fmt::Display for TableSampler {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

impl FromStr for TableSampler {
    type Err = InferError;

    fn from_str(text: &str) -> Result<Self, InferError> {
        find("sampler", text, Self::ALL.into_iter(), Self::word)
    }
}

/// Everything about the model that the releases do not say.
///
/// ```
/// let text = "model = \"naive-bayes\"\nclass = \"y\"\n[prior]\nconcentration = 2.0\n[records]\nuniform_most = 100000";
/// let spec: organza_infer::tables::TableSpec = toml::from_str(text)?;
/// assert_eq!(spec.records.uniform_most, Some(100_000));
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TableSpec {
    /// The model.
    pub model: TableModel,
    /// The class of naive Bayes; none if it is the column that all tables share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The sampler; none takes the best for the releases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampler: Option<TableSampler>,
    /// Prior of the probabilities.
    pub prior: TablePrior,
    /// Prior of numbers of records that are not public.
    pub records: RecordsPrior,
    /// Whether several releases of one party are taken to be about different records.
    pub allow_duplicates: bool,
    /// Mass of the intervals of the summary.
    pub mass: f64,
}

impl Default for TableSpec {
    fn default() -> Self {
        Self {
            model: TableModel::default(),
            class: None,
            sampler: None,
            prior: TablePrior::default(),
            records: RecordsPrior::default(),
            allow_duplicates: false,
            mass: 0.95,
        }
    }
}

impl TableSpec {
    /// Reads a file's text; the error names the line.
    pub fn from_toml(text: &str) -> Result<Self, InferError> {
        toml::from_str(text).map_err(|error| InferError::prior("file", error.to_string()))
    }
}

/// A posterior of probabilities.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TableFit {
    /// The sampler that was used.
    pub sampler: TableSampler,
    /// Why, in one sentence.
    pub reason: &'static str,
    /// Draws: `p[..]` for every probability, then `records` where it is not public.
    pub draws: Draws,
    /// The table of the draws.
    pub summary: Summary,
    /// What a person should know, in words.
    pub notes: Vec<String>,
    /// Number of releases.
    pub releases: usize,
    /// Public number of records of all parties.
    pub records: Option<u64>,
}

/// Fits a model of probabilities to noisy contingency tables.
pub fn fit_counts(
    spec: &TableSpec,
    releases: &[CountRelease],
    plan: &Plan,
    monitor: &Monitor<'_>,
) -> Result<TableFit, InferError> {
    let evidence = TableEvidence::new(releases, spec.allow_duplicates)?;
    let (prior, records) = (&spec.prior, &spec.records);
    let (sampler, reason) = choose(spec, &evidence)?;
    let model = || match spec.model {
        TableModel::Table => CountModel::table(&evidence, prior, records),
        TableModel::NaiveBayes => CountModel::naive_bayes(&evidence, prior, records, spec.class.as_deref()),
    };
    let draws = match sampler {
        TableSampler::Exact => {
            let target = ExactCounts::new(model()?)?;
            named(&IndependentCounts, &target, target.names(), (plan, monitor))?
        }
        TableSampler::Gibbs => {
            let target = model()?;
            named(&CollapsedGibbs, &target, target.names(), (plan, monitor))?
        }
        TableSampler::Plain => plain(spec, releases, &evidence, (plan, monitor))?,
        _ => {
            let target = OverlappingTables::new(&evidence, prior, records)?;
            named(&CellWalk::default(), &target, target.names(), (plan, monitor))?
        }
    };
    let mut notes = Vec::new();
    if evidence.records().is_none() && *records == RecordsPrior::default() {
        notes
            .push("the number of records is not public and has a flat prior; [records] gives another".into());
    }
    let summary = Summary::new(&draws, spec.mass)?;
    let (releases, records) = (evidence.parties(), evidence.records());
    Ok(TableFit { sampler, reason, draws, summary, notes, releases, records })
}

/// Fits the probabilities of all cells to randomised answers.
pub fn fit_randomised(
    spec: &TableSpec,
    releases: &[RandomisedRelease],
    plan: &Plan,
    monitor: &Monitor<'_>,
) -> Result<TableFit, InferError> {
    if spec.model != TableModel::Table {
        let reason = "randomised answers are fitted with a probability for every cell: say table";
        return Err(InferError::Setting { field: "model", reason: reason.into() });
    }
    let target = RandomisedAnswers::new(releases, &spec.prior, spec.allow_duplicates)?;
    let sampler = spec.sampler.unwrap_or(TableSampler::Nuts);
    let names = target.names().to_vec();
    let (draws, reason) = match sampler {
        TableSampler::Nuts => {
            let density = AnswerDensity::new(target);
            let kernel = Nuts::for_plan(plan);
            let reason = "the likelihood of the answers has a closed form, so nothing is latent";
            (named(&kernel, &&density, &names, (plan, monitor))?, reason)
        }
        TableSampler::Augmentation => {
            let reason = "it was asked for";
            (named(&AnswerAugmentation, &target, &names, (plan, monitor))?, reason)
        }
        _ => {
            let reason = "randomised answers have the samplers nuts and augmentation";
            return Err(InferError::Setting { field: "sampler", reason: reason.into() });
        }
    };
    let summary = Summary::new(&draws, spec.mass)?;
    let records = Some(releases.iter().map(|release| release.records).sum());
    Ok(TableFit { sampler, reason, draws, summary, notes: vec![], releases: releases.len(), records })
}

/// The sampler, and why.
fn choose(spec: &TableSpec, evidence: &TableEvidence) -> Result<(TableSampler, &'static str), InferError> {
    let wrong = |reason: &str| Err(InferError::Setting { field: "sampler", reason: reason.into() });
    let exact = spec.model == TableModel::NaiveBayes || chain_of(evidence).is_some();
    let several = evidence.parties() > 1;
    match spec.sampler {
        None if !exact => Ok((
            TableSampler::Metropolis,
            "tables overlap without containing each other, so the counts of all cells are walked over",
        )),
        None if several => Ok((
            TableSampler::Gibbs,
            "several parties: the exact law of each party's counts given those of the others, in turn",
        )),
        None => {
            Ok((TableSampler::Exact, "all counts of one party are summed out: independent draws, no chain"))
        }
        Some(TableSampler::Exact) if several => wrong("exact draws are for one party; use gibbs"),
        Some(TableSampler::Exact | TableSampler::Gibbs) if !exact => {
            wrong("exact sums need tables of which one contains the other; use metropolis")
        }
        Some(TableSampler::Metropolis) if spec.model == TableModel::NaiveBayes => {
            wrong("naive Bayes has the samplers exact, gibbs and plain")
        }
        Some(TableSampler::Nuts | TableSampler::Augmentation) => {
            wrong("noisy tables have the samplers exact, gibbs, metropolis and plain")
        }
        Some(sampler) => Ok((sampler, "it was asked for")),
    }
}

fn named<T: Sync, K: Kernel<T>>(
    kernel: &K,
    target: &T,
    names: &[String],
    (plan, monitor): (&Plan, &Monitor<'_>),
) -> Result<Draws, InferError> {
    Ok(run_monitored(kernel, target, plan, monitor)?.named(names.to_vec())?)
}
