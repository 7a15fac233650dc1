//! From releases to a finished result: choose, check, run, convert, summarise.
//!
//! Specifications are plain data; each model has a file or folder that matches them to typed targets and kernels.
//!
//! | file | what |
//! | --- | --- |
//! | `model` | the models, and which of them releases allow |
//! | `regression`, `logistic` | regressions from sums; models of levels are in [`tables`](crate::tables) |
//! | `auto` | which method for a linear regression |
//! | `closed_form`, `units`, `share` | independent draws; draws in users' units; the share of noise |
//! | `notes`, `report` | what is said of a fit, in words and as JSON |

mod auto;
mod closed_form;
mod logistic;
mod model;
mod notes;
mod regression;
mod report;
mod share;
mod units;

pub use auto::Choice;
pub use logistic::log_odds_map;
pub use model::{Model, Releases};
pub use report::fit_schema;
pub(crate) use units::SIGMA;

use organza_mcmc::{Draws, Monitor, Plan, Summary};
use organza_release::Domain;
use serde::{Deserialize, Serialize};

use crate::tables::{self, TableSpec};
use crate::{InferError, Method, PriorFile, Sampler};

/// Which method and sampler.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MethodSpec {
    /// The method; none lets the releases decide.
    pub method: Option<Method>,
    /// The sampler; none takes the method's first.
    pub sampler: Option<Sampler>,
}

/// Everything about the model that the releases do not say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelSpec {
    /// The model; none takes the plainest that the releases allow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Model>,
    /// The prior of a regression.
    pub prior: PriorFile,
    /// Priors of a model of levels.
    pub tables: TableSpec,
    /// Residual standard deviation in users' units, for `fast` only; a third of the half-range if none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residual_sd: Option<f64>,
    /// Whether several releases of one party are taken to be about different records.
    pub allow_duplicates: bool,
    /// Mass of the intervals of the summary.
    pub mass: f64,
}

impl Default for ModelSpec {
    fn default() -> Self {
        Self {
            model: None,
            prior: PriorFile::default(),
            tables: TableSpec::default(),
            residual_sd: None,
            allow_duplicates: false,
            mass: 0.95,
        }
    }
}

impl MethodSpec {
    /// The plan that suits the sampler: none of the papers' chains mixes in a thousand steps.
    pub fn usual_plan(&self, model: Model) -> Plan {
        let method = if model == Model::Logistic { Some(Method::Augmentation) } else { self.method };
        let sampler = self.sampler.or_else(|| method.map(|method| method.samplers()[0]));
        match sampler {
            _ if model.is_of_levels() => Plan::default(),
            Some(sampler) if sampler.is_independent() => Plan { warmup: 0, ..Plan::default() },
            Some(Sampler::Metropolis | Sampler::Gibbs | Sampler::Dense | Sampler::Plain) => {
                Plan { warmup: 5000, thin: 20, ..Plan::default() }
            }
            Some(Sampler::Interweaving) => Plan { warmup: 2000, thin: 5, ..Plan::default() },
            _ => Plan::default(),
        }
    }
}

/// A posterior. As JSON it has the form of `schemas/fit-2.json`, which leaves the draws out.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Fit {
    /// The model that was fitted.
    pub model: Model,
    /// The method that was used; none for models of levels, which have samplers only.
    pub method: Option<Method>,
    /// The sampler that was used.
    pub sampler: Sampler,
    /// Why the method or the sampler was chosen; none if it was asked for.
    pub reason: Option<String>,
    /// Draws in users' units: `beta[name]` for every coefficient, then `sigma` and `r_squared` where the model has them;
    /// of models of levels `p[..]` for every probability, then `records` where it is not public.
    pub draws: Draws,
    /// The table of the draws.
    pub summary: Summary,
    /// For every coefficient the share of its posterior variance that is due to privacy noise.
    pub noise_share: Vec<f64>,
    /// Residual standard deviation in users' units if it is not a parameter.
    pub residual_sd: Option<f64>,
    /// What a person should know, in words; reasons not to trust the draws are in [`Summary::warnings`].
    pub notes: Vec<String>,
    /// Number of releases.
    pub releases: usize,
    /// Public number of records of all parties.
    pub records: Option<f64>,
    /// Columns, bounds and formula of a regression.
    pub domain: Option<Domain>,
}

/// What a run needs beside the model.
pub(crate) type Run<'r> = (&'r Plan, &'r Monitor<'r>);

/// Fits a model to releases of one kind: sums, counts or randomised answers.
///
/// The model is [`ModelSpec::model`], or the plainest that the releases allow; for linear models the method is
/// [`MethodSpec::method`], or the one that `auto` chooses.
///
/// ```
/// use organza_infer::{Method, MethodSpec, ModelSpec, fit};
/// use organza_mcmc::{Monitor, Plan};
/// # let file = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/gaussian.jsonl"));
/// let releases = organza_release::read_many(file, "north.json")?;
/// let method = MethodSpec { method: Some(Method::FixedGram), sampler: None };
/// let found = fit(&method, &ModelSpec::default(), &releases, &Plan::default(), &Monitor::default())?;
/// println!("{} draws of {:?}", found.draws.total(), found.draws.names());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fit<'r>(
    method: &MethodSpec,
    model: &ModelSpec,
    releases: impl Into<Releases<'r>>,
    plan: &Plan,
    monitor: &Monitor<'_>,
) -> Result<Fit, InferError> {
    let releases = releases.into();
    let chosen = releases.model(model.model)?;
    let run = (plan, monitor);
    check_method(chosen, method)?;
    match releases {
        Releases::Sums(releases) if chosen == Model::Logistic => {
            logistic::fit(method.sampler, model, releases, run)
        }
        Releases::Sums(releases) => regression::fit((chosen, method), model, releases, run),
        Releases::Counts(releases) => tables::fit_counts((chosen, method.sampler), model, releases, run),
        Releases::Randomised(releases) => {
            tables::fit_randomised((chosen, method.sampler), model, releases, run)
        }
    }
}

/// Methods other than the first are for linear regressions.
fn check_method(model: Model, spec: &MethodSpec) -> Result<(), InferError> {
    let reason = match (model, spec.method) {
        (_, None) | (Model::Linear | Model::Normal, _) | (Model::Logistic, Some(Method::Augmentation)) => {
            return Ok(());
        }
        (Model::Logistic, Some(method)) => {
            format!("{method} is for linear models; logistic has augmentation")
        }
        (_, Some(method)) => format!("{method} is for linear models; {model} has samplers only"),
    };
    Err(InferError::Setting { field: "method", reason })
}
