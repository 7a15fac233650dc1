//! A plan: everything about a release that is known before any data is read.

use organza_release::loss::Mechanism;
use organza_release::sensitivity::{Bound, by_ranges, of_release};
use organza_release::{
    BallDomain, BoxDomain, Column, Domain, Family, Interval, Layout, Neighbours, Noise, Norm, PrivacyLoss,
    Statistic, fourth_moment_entries, gram_entries,
};

use super::calibrate::{Calibrated, calibrate};
use super::radius::grow;
use super::request::{DomainChoice, RecordScale, Request, StatisticKind};
use crate::CuratorError;
use crate::bounds::{Bounds, ColumnBounds};
use crate::defaults;
use crate::formula::{Design, Formula};
use crate::gram::{RecordDomain, RecordMap};
use crate::ledger::Charge;

/// A calibrated release of a regression's statistic, waiting for data.
#[derive(Debug, Clone)]
pub struct Plan {
    pub(super) design: Design,
    pub(super) record_map: RecordMap,
    pub(super) domain: Domain,
    pub(super) statistic: Statistic,
    pub(super) calibrated: Calibrated,
    pub(super) privacy: PrivacyLoss,
    sensitivity: Bound,
}

/// The exact sensitivity, or the papers' larger one if it is asked for.
fn sensitivity_of(
    request: &Request,
    domain: &Domain,
    statistic: &Statistic,
    norm: Norm,
) -> Result<Bound, CuratorError> {
    let exact = of_release(domain, statistic, request.neighbours, norm);
    if !request.sensitivity_by_ranges {
        return Ok(exact);
    }
    let fits = norm == Norm::L1 && request.neighbours == Neighbours::Substitute;
    by_ranges(domain, statistic).filter(|_| fits).ok_or_else(|| {
        let reason = "ranges are added up for Laplace noise on sums of unscaled records, neighbours substitute: leave it out";
        CuratorError::setting("sensitivity_by_ranges", reason)
    })
}

impl Plan {
    /// Compiles the formula, computes the sensitivity and calibrates the noise.
    pub fn new(request: &Request) -> Result<Self, CuratorError> {
        request.check()?;
        let design = Design::compile(&request.formula, &bounds_for(request)?)?;
        let mut domain = domain_for(request, &design);
        let statistic = statistic_for(request, &domain)?;
        grow(request, &mut domain, &statistic)?;
        let record_map = record_map_for(&domain)?;
        let norm = match request.family {
            Family::Gaussian => Norm::L2,
            Family::Laplace => Norm::L1,
        };
        let sensitivity = sensitivity_of(request, &domain, &statistic, norm)?;
        let loss = (request.epsilon, request.delta);
        let calibrated = calibrate(&domain, &statistic, request.family, loss, sensitivity.value)?;
        let privacy = PrivacyLoss {
            neighbours: request.neighbours,
            epsilon: request.epsilon,
            delta: request.delta,
            norm,
            sensitivity: sensitivity.value,
            public_bounds: true,
        };
        Ok(Self { design, record_map, domain, statistic, calibrated, privacy, sensitivity })
    }

    /// The compiled formula.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// How a record becomes integers.
    pub fn record_map(&self) -> &RecordMap {
        &self.record_map
    }

    /// The public domain.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// What will be released.
    pub fn statistic(&self) -> &Statistic {
        &self.statistic
    }

    /// The noise on every entry.
    pub fn noise(&self) -> &Noise {
        &self.calibrated.noise
    }

    /// What the release costs.
    pub fn privacy(&self) -> &PrivacyLoss {
        &self.privacy
    }

    /// The sensitivity, and whether it is attained.
    pub fn sensitivity(&self) -> Bound {
        self.sensitivity
    }

    /// Smallest noise scale over the weighted entries: sensitivity over scale sets the loss.
    pub fn weighted_scale(&self) -> f64 {
        let weights = self.statistic.weights(&self.domain);
        let scales = self.calibrated.noise.scales.iter().zip(&weights);
        scales.map(|(scale, weights)| scale * weights.noise).fold(f64::INFINITY, f64::min)
    }

    /// What is released, for the ledger: the formula, and the kind of statistic unless it is the usual one.
    pub fn description(&self) -> String {
        let formula = self.domain.formula();
        match &self.statistic {
            Statistic::Gram { .. } => formula.to_string(),
            Statistic::AveragedGram { averaged, .. } => format!("{formula}, averages of {averaged} records"),
            Statistic::AdaSsp { .. } => format!("{formula}, ada-ssp"),
            Statistic::FourthMoments { .. } => format!("{formula}, fourth moments"),
        }
    }

    /// What the ledger is charged.
    pub fn charge(&self, description: impl Into<String>) -> Charge {
        let mechanism = match self.calibrated.noise.family {
            Family::Gaussian => Mechanism::Gaussian { mu: self.sensitivity.value / self.weighted_scale() },
            Family::Laplace => Mechanism::Pure { epsilon: self.privacy.epsilon },
        };
        Charge {
            mechanism,
            total_variation: self.calibrated.total_variation,
            neighbours: Some(self.privacy.neighbours),
            claimed_epsilon: self.privacy.epsilon,
            claimed_delta: self.privacy.delta,
            description: description.into(),
        }
    }
}

fn statistic_for(request: &Request, domain: &Domain) -> Result<Statistic, CuratorError> {
    let layout = request.layout.unwrap_or_else(|| better_layout(request.family, domain));
    let substitute = request.neighbours == Neighbours::Substitute;
    let entries = |response_square: bool| gram_entries(domain, substitute, response_square);
    match (request.statistic, request.averaging) {
        (StatisticKind::Gram, None) => {
            Ok(Statistic::Gram { entries: entries(request.response_square), layout })
        }
        (StatisticKind::Gram, Some(averaged)) => {
            Ok(Statistic::AveragedGram { averaged, entries: entries(request.response_square), layout })
        }
        (StatisticKind::AdaSsp, _) => Ok(Statistic::AdaSsp { entries: entries(false) }),
        (StatisticKind::FourthMoments, _) if domain.feature_count() == 0 => {
            Err(CuratorError::setting("statistic", "there are no features to take fourth moments of"))
        }
        (StatisticKind::FourthMoments, _) => {
            Ok(Statistic::FourthMoments { entries: fourth_moment_entries(domain.feature_count()) })
        }
    }
}

/// Scaled records live in a ball, where isometric noise is a free gain; the box favours the upper layout.
fn better_layout(family: Family, domain: &Domain) -> Layout {
    match family {
        Family::Gaussian if domain.is_scaled() => Layout::Isometric,
        _ => Layout::Upper,
    }
}

/// In the ball domain columns need no bounds of their own; very wide ones keep the arithmetic finite.
fn bounds_for(request: &Request) -> Result<Bounds, CuratorError> {
    let mut bounds = request.bounds.clone();
    if let DomainChoice::Ball { radius, response_bound } = request.domain {
        let reach = 1e100 * radius.max(response_bound).max(1.0);
        for column in request.formula.columns() {
            if bounds.column(column).is_none() {
                bounds.insert(column, ColumnBounds::Numeric { lower: -reach, upper: reach })?;
            }
        }
    }
    Ok(bounds)
}

fn domain_for(request: &Request, design: &Design) -> Domain {
    let given = |name: &str| request.bounds.column(name).is_some();
    match request.domain {
        DomainChoice::Ball { radius, response_bound } => Domain::Ball(BallDomain {
            formula: request.formula.to_string(),
            columns: public_columns(design).into_iter().filter(|column| given(column.name())).collect(),
            features: design.features().iter().map(|feature| feature.name.clone()).collect(),
            response: design.response().name.clone(),
            radius,
            response_bound,
            response_weight: on_grid(request.response_weight.unwrap_or(1.0)),
        }),
        DomainChoice::Box { record_scale, intercept_weight } => {
            let plain = unscaled(&request.formula, design);
            let indicators = design.features().iter().filter(|feature| feature.indicator).count();
            let default = defaults::scaling(design.features().len(), indicators, plain.intercept);
            let radius = match record_scale {
                RecordScale::Radius(radius) => Some(radius),
                _ if request.has_default_radius() => default.map(|scaling| scaling.radius),
                _ => None,
            };
            let weights = default.filter(|_| radius.is_some());
            let constant_weight = weights.map_or(plain.intercept_weight, |scaling| scaling.intercept_weight);
            let response_weight = weights.map_or(plain.response_weight, |scaling| scaling.response_weight);
            Domain::Box(BoxDomain {
                record_scale: radius,
                intercept_weight: on_grid(intercept_weight.unwrap_or(constant_weight)),
                response_weight: on_grid(request.response_weight.unwrap_or(response_weight)),
                ..plain
            })
        }
    }
}

/// A box of unscaled records: they have weights 1, for which the sensitivity is exact.
pub(crate) fn unscaled(formula: &Formula, design: &Design) -> BoxDomain {
    let intercept = design.intercept();
    let interval = |feature: &crate::formula::Feature| normalising_interval(feature, intercept);
    BoxDomain {
        formula: formula.to_string(),
        columns: public_columns(design),
        intercept,
        features: design.features().iter().map(interval).collect(),
        response: interval(design.response()),
        record_scale: None,
        intercept_weight: 1.0,
        response_weight: 1.0,
    }
}

/// Without an intercept the line goes through the origin, which normalising must not move.
fn normalising_interval(feature: &crate::formula::Feature, intercept: bool) -> Interval {
    let reach = feature.lower.abs().max(feature.upper.abs());
    let (lower, upper) = if intercept { (feature.lower, feature.upper) } else { (-reach, reach) };
    Interval { name: feature.name.clone(), lower, upper }
}

fn public_columns(design: &Design) -> Vec<Column> {
    let numeric = design.numeric_columns().iter().map(|column| Column::Numeric {
        name: column.name.clone(),
        lower: column.interval.lower,
        upper: column.interval.upper,
    });
    let categorical = design
        .categorical_columns()
        .iter()
        .map(|column| Column::Categorical { name: column.name.clone(), levels: column.levels.clone() });
    numeric.chain(categorical).collect()
}

/// Weights are grid points, so that a weighted bound is one too.
fn on_grid(weight: f64) -> f64 {
    let grid = f64::from(1u32 << defaults::GRID_BITS);
    (weight * grid).round().max(1.0) / grid
}

/// How records of a domain become integers; an error if they cannot.
pub(crate) fn record_map_for(domain: &Domain) -> Result<RecordMap, CuratorError> {
    let interval = |term: &Interval| (term.lower, term.upper);
    let record_domain = match domain {
        Domain::Box(domain) => RecordDomain::Box {
            features: domain.features.iter().map(interval).collect(),
            response: interval(&domain.response),
            intercept: domain.intercept.then_some(domain.intercept_weight),
            radius: domain.record_scale,
        },
        Domain::Ball(domain) => RecordDomain::Ball {
            features: domain.features.len(),
            radius: domain.radius,
            response_bound: domain.response_bound,
        },
    };
    Ok(RecordMap::new(&record_domain, domain.response_weight(), defaults::GRID_BITS)?)
}
