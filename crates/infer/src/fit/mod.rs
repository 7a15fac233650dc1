//! From releases to a finished result: choose, check, run, convert, summarise.
//!
//! Specifications are plain data; this is the one place that matches them to typed targets and kernels.

mod auto;
mod closed_form;
mod logistic;
mod notes;
mod share;
mod units;

pub use auto::Choice;
pub use logistic::{LogisticFit, fit_logistic, log_odds_map};
pub(crate) use units::SIGMA;

use organza_mcmc::{Draws, Gradient, Monitor, Nuts, Plan, Statistic, Summary, run_monitored};
use organza_release::{Domain, Release};
use serde::{Deserialize, Serialize};

use crate::evidence::is_fourth;
use crate::judge;
use crate::{
    Augmented, Evidence, Fast, FixedGram, FixedGramMetropolis, FixedGramModel, FourthMoments, Gibbs,
    GibbsSampler, GramMechanism, IndividualDensity, InferError, Interweaving, LinearModel, MarginalDensity,
    Method, Moments, Naive, NormalX, NormalXDensity, NormalXMetropolis, Plain, Prior, PriorFile, Quadrature,
    Sampler,
};
use closed_form::ClosedForm;
use units::Position;

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
    /// The prior.
    pub prior: PriorFile,
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
        Self { prior: PriorFile::default(), residual_sd: None, allow_duplicates: false, mass: 0.95 }
    }
}

/// A posterior.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Fit {
    /// The method that was used.
    pub method: Method,
    /// The sampler that was used.
    pub sampler: Sampler,
    /// Why `auto` chose the method; none if it was asked for.
    pub reason: Option<String>,
    /// Draws in users' units: `beta[name]` for every coefficient, then `sigma` and `r_squared` where the model has them.
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
    /// Columns, bounds and formula.
    pub domain: Domain,
}

/// Fits a regression to releases of Gram matrices.
pub fn fit(
    method: &MethodSpec,
    model: &ModelSpec,
    releases: &[Release],
    plan: &Plan,
    monitor: &Monitor<'_>,
) -> Result<Fit, InferError> {
    let evidence = Evidence::of(releases.iter(), model.allow_duplicates)?;
    let prior = model.prior.build(&evidence)?;
    let (choice, sampler) = resolve(method, &evidence)?;
    judge::accept(choice.method, &evidence)?;
    let fast = fast(model, &evidence)?;
    let problem = Problem { evidence: &evidence, releases, prior: &prior, fast: &fast, plan, monitor };
    let (normalised, position) = problem.draw(choice.method, sampler)?;
    let draws = units::to_users(&normalised, &evidence, position)?;
    let spreads = match choice.method {
        Method::Marginal => share::spreads(&normalised, &draws, &evidence),
        _ => vec![],
    };
    let summary = Summary::new(&draws, model.mass)?;
    let unit = organza_release::units::CoefficientMap::new(evidence.domain()).response_unit();
    Ok(Fit {
        noise_share: spreads.iter().map(share::Spread::share).collect(),
        notes: notes::about(choice.method, &evidence, &prior, (&summary, &spreads)),
        residual_sd: (choice.method == Method::Fast).then(|| unit * fast.variance.sqrt()),
        releases: evidence.parties(),
        records: evidence.records(),
        domain: evidence.domain().clone(),
        method: choice.method,
        reason: method.method.is_none().then_some(choice.reason),
        sampler,
        draws,
        summary,
    })
}

/// The method and the sampler that will run.
fn resolve(spec: &MethodSpec, evidence: &Evidence) -> Result<(Choice, Sampler), InferError> {
    let choice = match spec.method {
        Some(method) => Choice { method, reason: String::new() },
        None => auto::choose(evidence)?,
    };
    let sampler = sampler_of(choice.method, spec.sampler)?;
    Ok((choice, sampler))
}

/// The sampler that was asked for, or the method's first.
fn sampler_of(method: Method, asked: Option<Sampler>) -> Result<Sampler, InferError> {
    let known = method.samplers();
    let sampler = asked.unwrap_or(known[0]);
    if known.contains(&sampler) {
        return Ok(sampler);
    }
    let words: Vec<&str> = known.iter().map(|sampler| sampler.word()).collect();
    let reason = format!("{method} has no sampler {sampler}; it has {}", words.join(", "));
    Err(InferError::Setting { field: "sampler", reason })
}

/// The residual variance of `fast`, in normalised units.
fn fast(model: &ModelSpec, evidence: &Evidence) -> Result<Fast, InferError> {
    let unit = organza_release::units::CoefficientMap::new(evidence.domain()).response_unit();
    match model.residual_sd {
        None => Ok(Fast::default()),
        Some(sd) if sd.is_finite() && sd > 0.0 => Ok(Fast { variance: (sd / unit).powi(2) }),
        Some(sd) => {
            let reason = format!("must be positive and finite, found {sd}");
            Err(InferError::Setting { field: "residual sd", reason })
        }
    }
}

/// Draws of a chain from which diagnostics can tell that it is slow.
const JUDGED: usize = 500;
/// How many steps for each that was planned slow chains take.
const PATIENCE: usize = 4;
/// How often chains are run again at most.
const REPEATS: usize = 2;

/// One fit while it runs.
struct Problem<'p> {
    evidence: &'p Evidence,
    releases: &'p [Release],
    prior: &'p Prior,
    fast: &'p Fast,
    plan: &'p Plan,
    monitor: &'p Monitor<'p>,
}

impl Problem<'_> {
    /// Draws in normalised units, and what they hold.
    fn draw(&self, method: Method, sampler: Sampler) -> Result<(Draws, Position), InferError> {
        let (evidence, prior) = (self.evidence, self.prior);
        match (method, sampler) {
            (Method::Fast, _) => {
                let posterior = self.fast.posterior(evidence, prior)?;
                Ok((self.run(&ClosedForm, &posterior)?, Position::Coefficients))
            }
            (Method::FixedGram, Sampler::Quadrature) => {
                Ok((self.run(&Quadrature, &FixedGram::new(evidence, prior)?)?, Position::Variance))
            }
            (Method::FixedGram, _) => {
                let target = FixedGramModel::new(evidence, prior)?;
                Ok((self.run(&FixedGramMetropolis::default(), &target)?, Position::Variance))
            }
            (Method::NormalX, Sampler::Metropolis) => {
                let target = NormalX::new(evidence, prior)?;
                Ok((self.run(&NormalXMetropolis::new(&target), &target)?, Position::VarianceAndShare))
            }
            (Method::NormalX, _) => {
                let target = NormalXDensity::new(NormalX::new(evidence, prior)?);
                Ok((self.careful(Nuts::for_plan(self.plan), &target)?, Position::VarianceAndShare))
            }
            (Method::Naive, _) => {
                Ok((self.run(&Quadrature, &Naive::posterior(evidence, prior)?)?, Position::RecordVariance))
            }
            (Method::Marginal, _) => {
                let target = MarginalDensity::new(evidence, prior)?;
                Ok((self.careful(target.sampler(self.plan), &target)?, Position::LatentVarianceAndShare))
            }
            (Method::Individual, _) => {
                let target = IndividualDensity::new(evidence, prior)?;
                let kernel = target.sampler(self.plan);
                Ok((self.run(&kernel, &&target)?, Position::LatentVarianceAndShare))
            }
            (Method::GibbsUpdate, Sampler::Dense) => {
                self.gibbs(Gibbs::new(evidence, prior, Moments::Update)?.dense())
            }
            (Method::GibbsUpdate, _) => self.gibbs(Gibbs::new(evidence, prior, Moments::Update)?),
            (Method::GibbsPrior, _) => self.gibbs(Gibbs::new(evidence, prior, Moments::Prior)?),
            (Method::GibbsNoisy, _) => {
                let moments = Moments::Noisy(FourthMoments::of(judge::accept(method, evidence)?)?);
                self.gibbs(Gibbs::new(evidence, prior, moments)?)
            }
            (Method::Augmentation, sampler) => self.augmentation(sampler),
            (Method::AdaSsp, _) => {
                let reason = "ada-ssp gives an estimate without draws: call ada_ssp()".to_string();
                Err(InferError::Setting { field: "method", reason })
            }
        }
    }

    fn gibbs(&self, target: Gibbs) -> Result<(Draws, Position), InferError> {
        Ok((self.run(&GibbsSampler, &target)?, Position::VarianceAndShare))
    }

    fn augmentation(&self, sampler: Sampler) -> Result<(Draws, Position), InferError> {
        let parties: Result<Vec<_>, _> =
            self.releases.iter().filter(|release| !is_fourth(release)).map(GramMechanism::of).collect();
        let target = Augmented { model: LinearModel::of(self.evidence, self.prior)?, parties: parties? };
        let draws = match sampler {
            Sampler::Plain => self.run(&Plain, &target)?,
            _ => self.run(&Interweaving::new(&target), &target)?,
        };
        Ok((draws, Position::LatentVarianceAndShare))
    }

    /// NUTS; again with smaller steps where paths diverge, and with more of them where chains are slow, as a careful person would do.
    fn careful<T: Gradient + Sync>(&self, mut kernel: Nuts, target: &T) -> Result<Draws, InferError> {
        let mut plan = *self.plan;
        let mut draws = self.run(&kernel, &target)?;
        for _ in 0..REPEATS {
            let diverged = draws.statistic_total(Statistic::DIVERGENT).is_some_and(|count| count > 0.0);
            let slow = self.plan.draws >= JUDGED && {
                let mixing = Summary { divergences: None, ..Summary::new(&draws, 0.95)? };
                !mixing.warnings().is_empty()
            };
            if !draws.is_complete() || !diverged && !slow {
                break;
            }
            if diverged {
                kernel.target_accept = 1.0 - 0.2 * (1.0 - kernel.target_accept);
            }
            if slow {
                plan.thin *= PATIENCE;
            }
            draws = run_monitored(&kernel, &target, &plan, self.monitor)?;
        }
        Ok(draws)
    }

    fn run<T: Sync, K: organza_mcmc::Kernel<T>>(&self, kernel: &K, target: &T) -> Result<Draws, InferError> {
        Ok(run_monitored(kernel, target, self.plan, self.monitor)?)
    }
}
