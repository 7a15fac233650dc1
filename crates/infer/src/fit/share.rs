//! How much of the posterior variance is due to privacy noise.
//!
//! One definition: one minus the ratio of two variances, that of a coefficient given the sums without noise (averaged over the posterior by its median) and that of
//! the posterior. Where noise hides a feature posteriors have long tails, so the variance of a posterior is that of the normal law with an interval as wide.
//! Only `marginal` knows both; other methods show nothing.

use organza_mcmc::Draws;
use organza_mcmc::diagnostics::{equal_tailed, quantile};
use organza_release::units::CoefficientMap;

use crate::Evidence;

/// Half of the width of an interval with mass 0.95 of a normal law.
const HALF_WIDTH: f64 = 1.959_963_984_540_054;

/// Standard deviations of one coefficient, in users' units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    /// With noise.
    pub posterior: f64,
    /// The same without.
    pub quiet: f64,
}

impl Spread {
    /// How many times wider intervals are because of noise.
    pub fn ratio(&self) -> f64 {
        (self.posterior / self.quiet).max(1.0)
    }

    /// The share of noise in the variance.
    pub fn share(&self) -> f64 {
        1.0 - self.ratio().powi(-2)
    }

    /// The ratio with this part of the noise.
    pub fn ratio_with(&self, part: f64) -> f64 {
        (1.0 + part * part * (self.ratio().powi(2) - 1.0)).sqrt()
    }
}

/// The coefficients' spreads, from draws of `marginal` in normalised units, which hold variances without noise behind all others, and the same draws in users' units.
pub(crate) fn spreads(draws: &Draws, users: &Draws, evidence: &Evidence) -> Vec<Spread> {
    let size = evidence.dimension();
    let map = CoefficientMap::new(evidence.domain());
    let values =
        |draws: &Draws, place: usize| draws.parameter(&draws.names()[place]).unwrap_or_default().concat();
    let spread = |k: usize| {
        let unit: Vec<f64> = (0..size).map(|l| f64::from(u8::from(k == l))).collect();
        let unit = map.linear_part(&unit)[k];
        let interval = equal_tailed(&values(users, k), 0.95);
        Spread {
            posterior: (interval.upper - interval.lower) / (2.0 * HALF_WIDTH),
            quiet: unit * quantile(&values(draws, size + 2 + k), 0.5).sqrt(),
        }
    };
    (0..size).map(spread).collect()
}
