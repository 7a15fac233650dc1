//! Regressions by the methods: matches plain specifications to typed targets and kernels.

use organza_mcmc::{Draws, Gradient, Monitor, Nuts, Plan, Statistic, Summary, run_monitored};
use organza_release::Release;

use super::auto::{self, Choice};
use super::closed_form::ClosedForm;
use super::units::{self, Position};
use super::{Fit, MethodSpec, Model, ModelSpec, Run, notes, share};
use crate::evidence::is_fourth;
use crate::judge;
use crate::{
    Augmented, Evidence, Fast, FixedGram, FixedGramMetropolis, FixedGramModel, FourthMoments, Gibbs,
    GibbsSampler, GramMechanism, IndividualDensity, InferError, Interweaving, LinearModel, MarginalDensity,
    Method, Moments, Naive, NormalX, NormalXDensity, NormalXMetropolis, Plain, Prior, Quadrature, Sampler,
};

/// Fits a linear regression to releases of Gram matrices.
pub(super) fn fit(
    (chosen, method): (Model, &MethodSpec),
    model: &ModelSpec,
    releases: &[Release],
    (plan, monitor): Run<'_>,
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
        domain: Some(evidence.domain().clone()),
        model: chosen,
        method: Some(choice.method),
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
pub(super) fn sampler_of(method: Method, asked: Option<Sampler>) -> Result<Sampler, InferError> {
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
