//! What a data holder asks for: plain data, validated.

use organza_release::{Family, Layout, Neighbours};

use crate::CuratorError;
use crate::bounds::Bounds;
use crate::formula::Formula;

/// Which public domain records are brought into.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DomainChoice {
    /// Bounds for every column.
    Box {
        /// Whether and how far records are shrunk.
        record_scale: RecordScale,
        /// Weight of the constant; none for the default.
        intercept_weight: Option<f64>,
    },
    /// A bound on the norm of the features and one on the response (\[AYB23\]).
    Ball {
        /// Largest norm of a record's features.
        radius: f64,
        /// Largest absolute response.
        response_bound: f64,
    },
}

/// Whether and how far records are shrunk whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RecordScale {
    /// The documented default: for Gaussian noise a radius that grows with [`Request::records`], none for Laplace
    /// noise.
    Default,
    /// No scaling.
    None,
    /// To this radius, in normalised units.
    Radius(f64),
}

/// What is computed from the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatisticKind {
    /// Sums of products of two columns: what most methods need.
    Gram,
    /// X'X, X'y and the smallest eigenvalue of X'X, for the point estimate adaSSP.
    AdaSsp,
    /// Sums of products of four columns of features, for \[BS19\]'s Gibbs-SS-Noisy, beside a release of the Gram matrix.
    FourthMoments,
}

/// A release to be planned. It is made of public knowledge only.
#[derive(Debug, Clone)]
pub struct Request {
    /// The regression.
    pub formula: Formula,
    /// Public bounds and levels.
    pub bounds: Bounds,
    /// The public domain.
    pub domain: DomainChoice,
    /// Family of the noise.
    pub family: Family,
    /// Layout of the noise; none for the better one.
    pub layout: Option<Layout>,
    /// Which tables count as neighbours.
    pub neighbours: Neighbours,
    /// Privacy loss.
    pub epsilon: f64,
    /// Zero for Laplace noise.
    pub delta: f64,
    /// Whether the sum of squared responses is released.
    pub response_square: bool,
    /// What is computed.
    pub statistic: StatisticKind,
    /// How many records are averaged into one row; none for the records themselves.
    pub averaging: Option<u64>,
    /// Weight of the response; none for the default.
    pub response_weight: Option<f64>,
    /// Whether Laplace noise is set by the papers' larger sensitivity, the sum of the entries' ranges.
    pub sensitivity_by_ranges: bool,
    /// Public number of records that the default radius is made for; none for the radius of few records.
    pub records: Option<u64>,
}

impl Request {
    /// A Gaussian release with all defaults.
    pub fn new(formula: Formula, bounds: Bounds, epsilon: f64, delta: f64) -> Self {
        Self {
            formula,
            bounds,
            domain: DomainChoice::Box { record_scale: RecordScale::Default, intercept_weight: None },
            family: Family::Gaussian,
            layout: None,
            neighbours: Neighbours::Substitute,
            epsilon,
            delta,
            response_square: true,
            statistic: StatisticKind::Gram,
            averaging: None,
            response_weight: None,
            sensitivity_by_ranges: false,
            records: None,
        }
    }

    pub(super) fn check(&self) -> Result<(), CuratorError> {
        positive("epsilon", self.epsilon)?;
        check_delta(self.family, self.delta)?;
        if self.family == Family::Laplace && self.layout == Some(Layout::Isometric) {
            return Err(CuratorError::setting("layout", "Laplace noise has the upper layout only"));
        }
        match self.domain {
            DomainChoice::Box { record_scale, intercept_weight } => {
                if let RecordScale::Radius(radius) = record_scale {
                    positive("record_scale", radius)?;
                }
                intercept_weight.map_or(Ok(()), |weight| positive("intercept_weight", weight))?;
            }
            DomainChoice::Ball { radius, response_bound } => {
                positive("radius", radius)?;
                positive("response_bound", response_bound)?;
                if self.formula.intercept() {
                    let reason = "the ball domain has no intercept: add `- 1` to the formula, or give bounds";
                    return Err(CuratorError::setting("formula", reason));
                }
            }
        }
        if self.records == Some(0) {
            return Err(CuratorError::setting("records", "must be at least 1"));
        }
        self.check_kind()?;
        self.response_weight.map_or(Ok(()), |weight| positive("response_weight", weight))
    }
}

/// Whether a delta goes with a family of noise.
pub(crate) fn check_delta(family: Family, delta: f64) -> Result<(), CuratorError> {
    let reason = match family {
        Family::Gaussian if delta > 0.0 && delta < 1.0 => return Ok(()),
        Family::Laplace if delta == 0.0 => return Ok(()),
        Family::Gaussian => {
            format!("Gaussian noise needs one between 0 and 1, for example 1e-6; found {delta}")
        }
        Family::Laplace => format!("Laplace noise is pure: leave delta out, found {delta}"),
    };
    Err(CuratorError::setting("delta", reason))
}

fn positive(field: &'static str, value: f64) -> Result<(), CuratorError> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(CuratorError::setting(field, format!("must be positive and finite, found {value}")))
}
