//! Public guesses of a regression, from which the defaults of private chains follow. No data.
//!
//! | model | a record's information about a coefficient | clip bound of a slope | stiffest direction |
//! | --- | --- | --- | --- |
//! | logistic | 1/12: probabilities near 1/2, features uniform on [-1, 1] | \|(1, x)\| <= sqrt(coefficients): nothing is ever clipped | coefficients/4 |
//! | linear | 1/(3 sigma^2), sigma = e^-1.5 of the response's half-width | 2.5 typical slopes, 2.5 t/sigma | coefficients/sigma^2 |
//! | poisson | g/3, g the mean count: a quarter of the upper bound, at least 1 | 2.5 t sqrt(g) | g coefficients |
//!
//! t = sqrt(1 + features/3) is the norm of a typical (1, x). A guess that is wrong costs mixing or clips records, which the report says;
//! it never costs privacy.

use super::load::ChainDesign;
use super::words::ChainModel;

/// ln sigma that is guessed for a linear regression, in normalised units.
const LOG_SIGMA: f64 = -1.5;
/// Where chains of a linear regression start: residuals that are too wide are safer than too narrow ones.
const START_LOG_SIGMA: f64 = -1.0;
/// Clip bounds in typical slopes.
const SLOPES: f64 = 2.5;

/// What is guessed about a regression.
#[derive(Debug, Clone, PartialEq)]
pub struct Guess {
    /// Number of records.
    pub records: f64,
    /// Number of parameters.
    pub dimension: usize,
    /// Bound on a record's gradient, and on its log ratio over the distance.
    pub clip: f64,
    /// A record's information about a coefficient.
    pub information: f64,
    /// A record's information about the direction that it knows best, at most.
    pub stiffest: f64,
    /// Posterior standard deviation of a coefficient.
    pub posterior_sd: f64,
    /// Where chains start.
    pub centre: Vec<f64>,
}

impl Guess {
    /// The guess for a regression of so many records.
    pub fn new(design: &ChainDesign, records: u64) -> Self {
        let coefficients = design.coefficients() as f64;
        let intercept = design.domain().intercept;
        let typical = (f64::from(u8::from(intercept)) + design.domain().features.len() as f64 / 3.0).sqrt();
        let mut centre = vec![0.0; design.dimension()];
        let (clip, curvature) = match design.model() {
            ChainModel::Logistic => (coefficients.sqrt(), 0.25),
            ChainModel::Linear => {
                centre[design.coefficients()] = START_LOG_SIGMA;
                let precision = libm::exp(-2.0 * LOG_SIGMA);
                (SLOPES * typical * precision.sqrt(), precision)
            }
            ChainModel::Poisson => {
                let mean = mean_count(design);
                if intercept {
                    centre[0] = libm::log(mean);
                }
                (SLOPES * typical * mean.sqrt(), mean)
            }
        };
        let (information, records) = (curvature / 3.0, records as f64);
        let precision = records * information + 1.0 / (design.prior_sd() * design.prior_sd());
        Self {
            records,
            dimension: design.dimension(),
            clip,
            information,
            stiffest: curvature * coefficients,
            posterior_sd: 1.0 / precision.sqrt(),
            centre,
        }
    }

    /// The longest Langevin step that the curvature allows.
    pub(super) fn langevin_curvature(&self) -> f64 {
        (0.1 * self.posterior_sd.powi(2)).min(self.stable_sd().powi(2))
    }

    /// The longest step that is stable in the stiffest direction.
    pub fn stable_sd(&self) -> f64 {
        1.0 / (self.records * self.stiffest).sqrt()
    }
}

/// The mean count that is guessed for a Poisson regression.
pub(super) fn mean_count(design: &ChainDesign) -> f64 {
    (0.25 * design.response_upper()).max(1.0)
}
