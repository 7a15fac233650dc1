//! From releases of counts or answers to a finished result.

use organza_mcmc::{Draws, Kernel, Nuts, Summary, run_monitored};
use organza_release::{CountRelease, RandomisedRelease};
use serde::{Deserialize, Serialize};

use super::plain::plain;
use super::saturated::chain_of;
use super::{
    AnswerAugmentation, AnswerDensity, CellWalk, CollapsedGibbs, CountModel, ExactCounts, IndependentCounts,
    OverlappingTables, RandomisedAnswers, RecordsPrior, TableEvidence, TablePrior,
};
use crate::fit::Run;
use crate::{Fit, InferError, Model, ModelSpec, Sampler};

/// Everything about a model of levels that the releases do not say.
///
/// ```
/// let text = "class = \"y\"\n[prior]\nconcentration = 2.0\n[records]\nuniform_most = 100000";
/// let spec: organza_infer::tables::TableSpec = toml::from_str(text)?;
/// assert_eq!(spec.records.uniform_most, Some(100_000));
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TableSpec {
    /// The class of naive Bayes; none if it is the column that all tables share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Prior of the probabilities.
    pub prior: TablePrior,
    /// Prior of numbers of records that are not public.
    pub records: RecordsPrior,
}

impl TableSpec {
    /// Reads a file's text; the error names the line.
    pub fn from_toml(text: &str) -> Result<Self, InferError> {
        toml::from_str(text).map_err(|error| InferError::prior("file", error.to_string()))
    }
}

/// Fits a model of probabilities to noisy contingency tables.
pub(crate) fn fit_counts(
    (model, sampler): (Model, Option<Sampler>),
    spec: &ModelSpec,
    releases: &[CountRelease],
    run: Run<'_>,
) -> Result<Fit, InferError> {
    let evidence = TableEvidence::new(releases, spec.allow_duplicates)?;
    let TableSpec { class, prior, records } = &spec.tables;
    let (sampler, reason) = choose((model, sampler), &evidence)?;
    let target = || match model {
        Model::NaiveBayes => CountModel::naive_bayes(&evidence, prior, records, class.as_deref()),
        _ => CountModel::table(&evidence, prior, records),
    };
    let draws = match sampler {
        Sampler::Exact => {
            let target = ExactCounts::new(target()?)?;
            named(&IndependentCounts, &target, target.names(), run)?
        }
        Sampler::Gibbs => {
            let target = target()?;
            named(&CollapsedGibbs, &target, target.names(), run)?
        }
        Sampler::Plain => plain(model, &spec.tables, (releases, &evidence), run)?,
        _ => {
            let target = OverlappingTables::new(&evidence, prior, records)?;
            named(&CellWalk::default(), &target, target.names(), run)?
        }
    };
    let mut notes = Vec::new();
    if evidence.records().is_none() && *records == RecordsPrior::default() {
        notes
            .push("the number of records is not public and has a flat prior; [records] gives another".into());
    }
    let about = (evidence.parties(), evidence.records().map(|records| records as f64));
    finish((model, sampler, reason), (draws, spec.mass), notes, about)
}

/// What every model of levels says of its draws.
fn finish(
    (model, sampler, reason): (Model, Sampler, &str),
    (draws, mass): (Draws, f64),
    notes: Vec<String>,
    (releases, records): (usize, Option<f64>),
) -> Result<Fit, InferError> {
    let summary = Summary::new(&draws, mass)?;
    let (reason, noise_share) = (Some(reason.into()), vec![]);
    let (method, residual_sd, domain) = (None, None, None);
    Ok(Fit {
        model,
        method,
        sampler,
        reason,
        draws,
        summary,
        noise_share,
        residual_sd,
        notes,
        releases,
        records,
        domain,
    })
}

/// Fits the probabilities of all cells to randomised answers.
pub(crate) fn fit_randomised(
    (model, sampler): (Model, Option<Sampler>),
    spec: &ModelSpec,
    releases: &[RandomisedRelease],
    run: Run<'_>,
) -> Result<Fit, InferError> {
    let target = RandomisedAnswers::new(releases, &spec.tables.prior, spec.allow_duplicates)?;
    let sampler = sampler.unwrap_or(Sampler::Nuts);
    let names = target.names().to_vec();
    let (draws, reason) = match sampler {
        Sampler::Nuts => {
            let density = AnswerDensity::new(target);
            let kernel = Nuts::for_plan(run.0);
            let reason = "the likelihood of the answers has a closed form, so nothing is latent";
            (named(&kernel, &&density, &names, run)?, reason)
        }
        Sampler::Augmentation => {
            let reason = "it was asked for";
            (named(&AnswerAugmentation, &target, &names, run)?, reason)
        }
        _ => {
            let reason = "randomised answers have the samplers nuts and augmentation";
            return Err(InferError::Setting { field: "sampler", reason: reason.into() });
        }
    };
    let records = releases.iter().map(|release| release.records).sum::<u64>() as f64;
    finish((model, sampler, reason), (draws, spec.mass), vec![], (releases.len(), Some(records)))
}

/// The sampler, and why.
fn choose(
    (model, asked): (Model, Option<Sampler>),
    evidence: &TableEvidence,
) -> Result<(Sampler, &'static str), InferError> {
    let wrong = |reason: &str| Err(InferError::Setting { field: "sampler", reason: reason.into() });
    let exact = model == Model::NaiveBayes || chain_of(evidence).is_some();
    let several = evidence.parties() > 1;
    match asked {
        None if !exact => Ok((
            Sampler::Metropolis,
            "tables overlap without containing each other, so the counts of all cells are walked over",
        )),
        None if several => Ok((
            Sampler::Gibbs,
            "several parties: the exact law of each party's counts given those of the others, in turn",
        )),
        None => Ok((Sampler::Exact, "all counts of one party are summed out: independent draws, no chain")),
        Some(Sampler::Exact) if several => wrong("exact draws are for one party; use gibbs"),
        Some(Sampler::Exact | Sampler::Gibbs) if !exact => {
            wrong("exact sums need tables of which one contains the other; use metropolis")
        }
        Some(Sampler::Metropolis) if model == Model::NaiveBayes => {
            wrong("naive Bayes has the samplers exact, gibbs and plain")
        }
        Some(sampler @ (Sampler::Exact | Sampler::Gibbs | Sampler::Metropolis | Sampler::Plain)) => {
            Ok((sampler, "it was asked for"))
        }
        Some(_) => wrong("noisy tables have the samplers exact, gibbs, metropolis and plain"),
    }
}

fn named<T: Sync, K: Kernel<T>>(
    kernel: &K,
    target: &T,
    names: &[String],
    (plan, monitor): Run<'_>,
) -> Result<Draws, InferError> {
    Ok(run_monitored(kernel, target, plan, monitor)?.named(names.to_vec())?)
}
