//! Records of \[BS19\] section 4.2 and the ways of releasing their sums.

use organza_infer::{FeaturePrior, InferError, Prior};
use rand::Rng;
use rand_distr::{Distribution, Gamma, StandardNormal};

use super::problem::{Problem, Scales, Sums};
use crate::reproduce::Variant;

/// Shape and rate of the residual variance.
const VARIANCE: (f64, f64) = (20.0, 0.5);
/// Precision of both coefficients, in units of the residual variance: .5 / (20 - 1).
const PRECISION: f64 = 0.5 / 19.0;
/// tau^2 ~ IW(1, 50), mu ~ N(0, tau^2).
const FEATURES: (f64, f64) = (1.0, 50.0);
/// Sensitivity in the authors' code: 4 (4 + 2 + 1), all four entries of xx' counted although one is public and two are the same.
const PUBLISHED: f64 = 28.0;
/// Their sensitivity of the fourth moments: five entries of width 2^4.
const PUBLISHED_FOURTH: f64 = 80.0;
/// Half-widths that no record exceeds: where the paper does not cut records, bounds must not either.
const BEYOND: [f64; 2] = [8.0, 8.0];
/// Half-widths of honest bounds: five standard deviations of the feature, three of the response.
const HONEST: [f64; 2] = [1.0, 3.0];

/// Parameters of one trial: slope, intercept, residual variance.
pub type Truth = [f64; 3];

/// How sums are released.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    variant: Variant,
    /// Half-widths of the bounds of feature and response.
    bounds: [f64; 2],
}

impl Setting {
    /// The setting of a variant.
    pub fn new(variant: Variant) -> Self {
        Self { variant, bounds: if variant == Variant::Ours { HONEST } else { BEYOND } }
    }

    /// A trial: parameters from the prior, so many records given them, and what methods see of these.
    pub fn simulate(
        &self,
        records: u64,
        epsilon: f64,
        rng: &mut impl Rng,
    ) -> Result<(Truth, Problem), String> {
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let gamma = |shape: f64| Gamma::new(shape, 1.0).map_err(|error| text(&error));
        let variance = VARIANCE.1 / gamma(VARIANCE.0)?.sample(rng);
        let tau = (0.5 * FEATURES.0 / gamma(0.5 * FEATURES.1)?.sample(rng)).sqrt();
        let mut normal = || -> f64 { StandardNormal.sample(rng) };
        let spread = (variance / PRECISION).sqrt();
        let (intercept, slope, mean) = (spread * normal(), spread * normal(), tau * normal());
        let [half_x, half_y] = self.bounds;
        let record = |_| {
            let x = mean + tau * normal();
            let y = intercept + slope * x + variance.sqrt() * normal();
            ((x / half_x).clamp(-1.0, 1.0), (y / half_y).clamp(-1.0, 1.0))
        };
        let sums = Sums::new((0..records).map(record));
        let prior = |factor: f64| self.prior(factor).map_err(|error| text(&error));
        // E x^2 = E tau^2 + E mu^2 is twice the mean of tau^2.
        let (prior, moments_prior) = (prior(1.0)?, prior(2.0)?);
        let problem = Problem { sums, scales: self.scales(), epsilon, prior, moments_prior };
        Ok(([slope, intercept, variance], problem))
    }

    /// The prior in normalised units, the scale of the features times this factor.
    fn prior(&self, factor: f64) -> Result<Prior, InferError> {
        let [half_x, half_y] = self.bounds;
        // In units of the residual variance, which itself has those of the squared response.
        let covariance = [1.0 / PRECISION, 0.0, 0.0, half_x * half_x / PRECISION];
        let (shape, rate) = (VARIANCE.0, VARIANCE.1 / (half_y * half_y));
        let scale = factor * FEATURES.0 / (half_x * half_x);
        let features = FeaturePrior::new(vec![scale], FEATURES.1, vec![0.0], 1.0)?;
        Ok(Prior::new(vec![0.0; 2], &covariance, (shape, rate))?.conjugate().with_features(features))
    }

    fn scales(&self) -> Scales {
        let exact = Scales::exact();
        let unit = self.bounds.map(|half| 1.0 / half);
        match self.variant {
            Variant::Published => Scales::in_units(PUBLISHED, PUBLISHED_FOURTH, unit),
            Variant::Claimed => Scales::in_units(exact.gram[0], exact.powers[0], unit),
            Variant::Ours => exact,
        }
    }

    /// Slope, intercept and residual variance of a draw (intercept, slope, variance) in normalised units.
    pub fn to_users(self, draw: &[f64]) -> Truth {
        let [half_x, half_y] = self.bounds;
        [draw[1] * half_y / half_x, draw[0] * half_y, draw[2] * half_y * half_y]
    }
}
