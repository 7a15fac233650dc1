//! Logistic regression on normal features as a model of latent records.
//!
//! The response is the sign of a latent utility t = theta'(1, u) + e with logistic noise e. A latent record is (u, t): with known noise this
//! is a linear regression, whose features, coordinates and moves with all records in tow serve here as they are.

use std::ops::Range;

use organza_mcmc::{ChainRng, Stop};
use rand_distr::{Distribution, Open01};

use super::{Generative, Interweave, LinearModel, LinearParameters, RecordDensity};
use crate::linalg::{factorise, solve_lower_transposed};
use crate::random::{accept, fill_normal};
use crate::{Evidence, FeaturePrior, InferError, Prior};

/// Moves of the coefficients in one draw given the records.
const MOVES: usize = 3;
/// What one record tells of its line: the information of a logistic variable about its place.
const INFORMATION: f64 = 1.0 / 3.0;
/// Standard deviation of logistic noise, pi/sqrt(3).
const SD: f64 = 1.813_799_364_234_217_8;
/// The logarithm of a product is taken before it is larger than this.
const LARGEST_PRODUCT: f64 = 1e300;

/// u ~ N(m, Sigma), t = theta'(1, u) + e with logistic e, response +1 if t > 0, else -1; without an intercept m = 0 and t = theta'u + e.
///
/// A latent record is (u, t), the features in normalised units. With no feature it is a proportion: P(+1) = 1/(1 + exp(-theta_1)). The
/// values of a draw are theta: log odds per half range of a feature.
#[derive(Debug, Clone, PartialEq)]
pub struct LogisticModel {
    linear: LinearModel,
}

/// Parameters of a [`LogisticModel`] and memory for its draws.
#[derive(Debug, Clone)]
pub struct LogisticParameters {
    linear: LinearParameters,
    /// X'X/3 + C^-1, then its lower factor.
    precision: Vec<f64>,
    step: Vec<f64>,
    proposal: Vec<f64>,
}

impl LogisticModel {
    /// A model with an unknown law of the features. The prior's residual variance has no meaning here; a conjugate prior is refused.
    pub fn new(prior: &Prior, features: &FeaturePrior, intercept: bool) -> Result<Self, InferError> {
        if prior.is_conjugate() {
            let reason = "must be false: a logistic regression has no residual variance to multiply with";
            return Err(InferError::prior("coefficients.conjugate", reason));
        }
        Ok(Self { linear: LinearModel::new(prior, features, intercept)?.with_variance(1.0)? })
    }

    /// The model of the regression that the releases describe.
    pub fn of(evidence: &Evidence, prior: &Prior) -> Result<Self, InferError> {
        prior.check(evidence)?;
        Self::new(prior, &prior.latent_features(evidence), evidence.domain().intercept())
    }

    /// The same with a known mean and covariance (row-major) of the features; without an intercept the mean is empty.
    pub fn with_features(self, mean: Vec<f64>, covariance: Vec<f64>) -> Result<Self, InferError> {
        Ok(Self { linear: self.linear.with_features(mean, covariance)? })
    }

    /// Log density of theta given the records, up to a constant: prior and logistic residuals.
    fn log_density_of_theta(&self, theta: &[f64], records: &[f64]) -> f64 {
        let (mut total, mut product) = (0.0, 1.0);
        for record in records.chunks_exact(self.width()) {
            let (features, utility) = record.split_at(record.len() - 1);
            let residual = (utility[0] - self.linear.line(theta, features)).abs();
            // ln f(e) = -|e| - 2 ln(1 + exp(-|e|)); the logarithm of many factors at once.
            total += residual;
            product *= 1.0 + libm::exp(-residual);
            if product > LARGEST_PRODUCT {
                total += 2.0 * libm::log(product);
                product = 1.0;
            }
        }
        -0.5 * self.linear.prior_distance(theta) - total - 2.0 * libm::log(product)
    }

    /// Random walks with the covariance 2.38^2/d (X'X/3 + C^-1)^-1, which does not depend on theta: steps there and back are equally likely.
    fn walk(
        &self,
        records: &[f64],
        parameters: &mut LogisticParameters,
        rng: &mut ChainRng,
    ) -> Result<(), Stop> {
        let LogisticParameters { linear, precision, step, proposal } = parameters;
        let (theta, size) = (&mut linear.regression.theta, step.len());
        let rows = precision.chunks_exact_mut(size).zip(self.linear.prior.precision().chunks_exact(size));
        for ((row, prior), sums) in rows.zip(linear.gram.chunks_exact(size + 1)) {
            let entries = row.iter_mut().zip(prior).zip(sums);
            entries.for_each(|((entry, prior), sum)| *entry = INFORMATION * sum + prior);
        }
        factorise(precision, size).map_err(|row| {
            Stop::numerical(format!("the precision of the coefficients is not positive definite (row {row})"))
        })?;
        let scale = 2.38 / (size as f64).sqrt();
        let mut log_density = self.log_density_of_theta(theta, records);
        for _ in 0..MOVES {
            fill_normal(rng, step);
            solve_lower_transposed(precision, step);
            let places = proposal.iter_mut().zip(theta.iter()).zip(step.iter());
            places.for_each(|((new, old), step)| *new = old + scale * step);
            let moved = self.log_density_of_theta(proposal, records);
            if (moved - log_density).is_nan() {
                return Err(Stop::numerical("the density of the coefficients is not a number"));
            }
            if accept(rng, moved - log_density) {
                theta.copy_from_slice(proposal);
                log_density = moved;
            }
        }
        Ok(())
    }
}

impl Generative for LogisticModel {
    type Parameters = LogisticParameters;

    fn width(&self) -> usize {
        self.linear.width()
    }

    fn start(&self, rng: &mut ChainRng) -> Result<LogisticParameters, Stop> {
        let size = self.linear.prior.dimension();
        let (precision, line) = (vec![0.0; size * size], vec![0.0; size]);
        Ok(LogisticParameters {
            linear: self.linear.start(rng)?,
            precision,
            step: line.clone(),
            proposal: line,
        })
    }

    #[inline]
    fn draw_record(&self, parameters: &LogisticParameters, rng: &mut ChainRng, record: &mut [f64]) {
        let (features, utility) = record.split_at_mut(self.linear.dimension());
        fill_normal(rng, features);
        self.linear.colour(&parameters.linear, features);
        let uniform: f64 = Open01.sample(rng);
        let noise = libm::log(uniform / (1.0 - uniform));
        utility[0] = self.linear.line(&parameters.linear.regression.theta, features) + noise;
    }

    fn draw_parameters(
        &self,
        records: &[f64],
        parameters: &mut LogisticParameters,
        rng: &mut ChainRng,
    ) -> Result<(), Stop> {
        self.linear.draw_features(records, &mut parameters.linear, rng)?;
        if !parameters.step.is_empty() {
            self.walk(records, parameters, rng)?;
        }
        parameters.linear.complete();
        Ok(())
    }

    fn names(&self) -> Vec<String> {
        (1..=self.linear.prior.dimension()).map(|k| format!("theta[{k}]")).collect()
    }

    fn write(&self, parameters: &LogisticParameters, values: &mut [f64]) {
        values.copy_from_slice(&parameters.linear.regression.theta);
    }
}

impl RecordDensity for LogisticModel {
    #[inline]
    fn log_density(&self, parameters: &LogisticParameters, record: &[f64]) -> f64 {
        let (features, utility) = record.split_at(self.linear.dimension());
        let residual = (utility[0] - self.linear.line(&parameters.linear.regression.theta, features)).abs();
        let logistic = residual + 2.0 * libm::log1p(libm::exp(-residual));
        -0.5 * self.linear.distance(&parameters.linear, features) - logistic
    }

    fn write_spreads(&self, parameters: &LogisticParameters, spreads: &mut [f64]) {
        self.linear.write_spreads(&parameters.linear, spreads);
        spreads[self.linear.dimension()] = SD;
    }
}

impl Interweave for LogisticModel {
    fn coordinates(&self) -> usize {
        self.linear.coordinates()
    }

    fn blocks(&self) -> Vec<Range<usize>> {
        self.linear.blocks()
    }

    fn write_coordinates(&self, parameters: &LogisticParameters, coordinates: &mut [f64]) {
        self.linear.write_coordinates(&parameters.linear, coordinates);
    }

    fn log_prior(&self, parameters: &LogisticParameters) -> f64 {
        self.linear.log_prior(&parameters.linear)
    }

    fn move_to(&self, coordinates: &[f64], from: &LogisticParameters, to: &mut LogisticParameters) -> bool {
        self.linear.move_to(coordinates, &from.linear, &mut to.linear)
    }

    #[inline]
    fn carry(&self, to: &LogisticParameters, record: &[f64], moved: &mut [f64]) {
        self.linear.carry(&to.linear, record, moved);
    }
}
