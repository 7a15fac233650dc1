//! The paper's chain over latent records, beside the samplers that need none.
//!
//! **Target.** That of the exact samplers, for public numbers of records and one concentration for all probabilities. **Exactness.** Exact
//! in the limit of many draws. **Cost.** O(n) per step. **Citation.** \[JAGR22\] Algorithm 1.

use organza_mcmc::{Draws, Monitor, Plan, run_monitored};
use organza_release::CountRelease;

use super::naive_bayes::find_class;
use super::{TableEvidence, TableSpec};
use crate::augmentation::{
    Augmented, Generative, MOST_LATENT, NaiveBayesRecords, Plain, RecordAdditive, SaturatedRecords,
    TableMechanism,
};
use crate::fit::Run;
use crate::{InferError, Model};

/// Draws of the probabilities, with names.
pub(super) fn plain(
    model: Model,
    spec: &TableSpec,
    (releases, evidence): (&[CountRelease], &TableEvidence),
    (plan, monitor): Run<'_>,
) -> Result<Draws, InferError> {
    if !spec.prior.cells.is_empty() {
        let reason =
            "plain has one concentration for all probabilities; leave it out, or use another sampler";
        return Err(InferError::prior("cells", reason));
    }
    let numbers = evidence.records().unwrap_or(0) as f64 * evidence.columns.len() as f64;
    if numbers > MOST_LATENT {
        let needs = format!("at most {MOST_LATENT} numbers in all latent records, and there are {numbers}");
        return Err(InferError::unsupported(&releases[0].party, "plain", &needs));
    }
    let parties = releases.iter().map(TableMechanism::of).collect::<Result<Vec<_>, _>>()?;
    let columns = &releases[0].columns;
    match model {
        Model::NaiveBayes => {
            let class = &columns[find_class(evidence, spec.class.as_deref())?].name;
            let model = NaiveBayesRecords::new(columns, class, spec.prior.concentration.unwrap_or(2.0))?;
            run(Augmented { model, parties }, plan, monitor)
        }
        _ => {
            let model = SaturatedRecords::new(columns, spec.prior.concentration.unwrap_or(1.0))?;
            run(Augmented { model, parties }, plan, monitor)
        }
    }
}

fn run<G: Generative, M: RecordAdditive>(
    target: Augmented<G, M>,
    plan: &Plan,
    monitor: &Monitor<'_>,
) -> Result<Draws, InferError> {
    Ok(run_monitored(&Plain, &target, plan, monitor)?.named(target.model.names())?)
}
