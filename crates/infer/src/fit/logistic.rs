//! Logistic regression from releases of Gram matrices.

use organza_mcmc::{Summary, run_monitored};
use organza_release::units::CoefficientMap;
use organza_release::{Domain, Interval, Release};

use super::regression::sampler_of;
use super::units::{self, Position};
use super::{Fit, Model, ModelSpec, Run, notes};
use crate::augmentation::{LogisticModel, SignedResponse};
use crate::{Augmented, Evidence, InferError, Interweaving, Method, Plain, Prior, Sampler};

/// Prior sd of every coefficient in normalised units where nothing is said: log odds of 2.5 from the centre of a feature to its bound.
const WEAK_SD: f64 = 2.5;

/// The map of coefficients between normalised and users' units for log odds, which have no unit of the response:
/// beta_j = theta_j/h_j and beta_0 = theta_0 - sum_j theta_j m_j/h_j for features with centres m and half widths h.
pub fn log_odds_map(domain: &Domain) -> CoefficientMap {
    CoefficientMap::new(&without_response_unit(domain))
}

/// Fits a logistic regression to releases of Gram matrices of a response that is 0 or 1, with latent records as in
/// [`LogisticModel`]; without a sampler it is [`Interweaving`].
pub(super) fn fit(
    sampler: Option<Sampler>,
    model: &ModelSpec,
    releases: &[Release],
    (plan, monitor): Run<'_>,
) -> Result<Fit, InferError> {
    let sampler = sampler_of(Method::Augmentation, sampler)?;
    let parties = releases.iter().map(SignedResponse::of).collect::<Result<Vec<_>, _>>()?;
    let unitless: Vec<Release> = releases.iter().map(in_log_odds).collect();
    let evidence = Evidence::of(unitless.iter(), model.allow_duplicates)?;
    crate::judge::accept(Method::Augmentation, &evidence)?;
    let prior = prior(model, &evidence)?;
    let target = Augmented { model: LogisticModel::of(&evidence, &prior)?, parties };
    let draws = match sampler {
        Sampler::Plain => run_monitored(&Plain, &target, plan, monitor)?,
        _ => run_monitored(&Interweaving::new(&target), &target, plan, monitor)?,
    };
    let draws = units::to_users(&draws, &evidence, Position::Coefficients)?;
    let summary = Summary::new(&draws, model.mass)?;
    let mut notes = notes::about(Method::Augmentation, &evidence, &prior, (&summary, &[]));
    notes.push(
        "the response is taken to have two values, its bounds, and the features to be normal before clamping"
            .into(),
    );
    Ok(Fit {
        model: Model::Logistic,
        method: Some(Method::Augmentation),
        sampler,
        reason: Some("every record is latent, clamping included".into()),
        draws,
        summary,
        notes,
        noise_share: vec![],
        residual_sd: None,
        releases: releases.len(),
        records: evidence.records(),
        domain: releases.first().map(|release| release.domain.clone()),
    })
}

/// The prior, without what a logistic regression does not have.
fn prior(model: &ModelSpec, evidence: &Evidence) -> Result<Prior, InferError> {
    if model.prior.variance.is_some() {
        let reason = "has no place in a logistic regression, which has no residual variance: leave it out";
        return Err(InferError::prior("variance", reason));
    }
    if model.residual_sd.is_some() {
        let reason = "a logistic regression has none: leave it out".to_string();
        return Err(InferError::Setting { field: "residual sd", reason });
    }
    model.prior.build_with(evidence, WEAK_SD)
}

/// The release with a response that is -1 or 1 in users' units as it is in normalised units.
fn in_log_odds(release: &Release) -> Release {
    Release { domain: without_response_unit(&release.domain), ..release.clone() }
}

fn without_response_unit(domain: &Domain) -> Domain {
    let mut domain = domain.clone();
    match &mut domain {
        Domain::Box(domain) => {
            let name = std::mem::take(&mut domain.response.name);
            domain.response = Interval { name, lower: -1.0, upper: 1.0 };
        }
        // A radius of features and a bound of 1 on the response have the same effect.
        Domain::Ball(domain) => domain.response_bound = 1.0,
    }
    domain
}
