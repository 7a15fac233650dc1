//! From the positions of chains, in normalised units, to draws in users' units.

use organza_mcmc::{Draws, DrawsError};
use organza_release::units::CoefficientMap;

use crate::Evidence;
use crate::evidence::Features;
use crate::pooled::Pooled;
use crate::prior::coefficient_names;

/// Name of the residual standard deviation among the parameters.
pub(crate) const SIGMA: &str = "sigma";
/// Name of the explained share of variance.
pub(crate) const R_SQUARED: &str = "r_squared";

/// What a position holds after the coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    /// Nothing: the residual variance is fixed.
    Coefficients,
    /// The residual variance.
    Variance,
    /// The residual variance of (possibly scaled) records.
    RecordVariance,
    /// The residual variance of (possibly scaled) records and the explained share.
    VarianceAndShare,
    /// The residual variance of records before they were scaled and the explained share.
    LatentVarianceAndShare,
}

/// `beta[name]` for every coefficient.
pub(crate) fn parameter_names(evidence: &Evidence) -> Vec<String> {
    coefficient_names(evidence).iter().map(|name| format!("beta[{name}]")).collect()
}

/// Converts draws of one method.
pub(crate) fn to_users(draws: &Draws, evidence: &Evidence, position: Position) -> Result<Draws, DrawsError> {
    let map = CoefficientMap::new(evidence.domain());
    let size = evidence.dimension();
    let mut names = parameter_names(evidence);
    if position != Position::Coefficients {
        names.push(SIGMA.into());
    }
    // Without features nothing is explained.
    let has_share = matches!(position, Position::VarianceAndShare | Position::LatentVarianceAndShare)
        && evidence.domain().feature_count() > 0;
    if has_share {
        names.push(R_SQUARED.into());
    }
    let shrinkage = match position {
        Position::RecordVariance | Position::VarianceAndShare => mean_squared_factor(evidence),
        _ => 1.0,
    };
    draws.converted(names, |old, new| {
        new[..size].copy_from_slice(&map.to_users(&old[..size]));
        if position != Position::Coefficients {
            new[size] = map.response_unit() * (old[size] / shrinkage).sqrt();
        }
        if has_share {
            new[size + 1] = old[size + 1];
        }
    })
}

/// The mean of c^2 over records that were shrunk by c: the residual variance of shrunk records is that much smaller.
///
/// With an intercept the sum of c^2 is among the released entries; without one nothing says how much records were shrunk.
pub(crate) fn mean_squared_factor(evidence: &Evidence) -> f64 {
    let known = evidence.features() == Features::Centred && evidence.domain().intercept();
    match evidence.records() {
        Some(records) if known => (Pooled::new(evidence).at(0, 0) / records).clamp(0.01, 1.0),
        _ => 1.0,
    }
}
