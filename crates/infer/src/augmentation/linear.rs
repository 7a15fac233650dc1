//! Linear regression on normal features as a model of latent records; without features, a normal variable.

use organza_mcmc::{ChainRng, Stop};

use super::{Generative, RecordDensity};
use crate::gibbs::{FeatureLaw, Regression};
use crate::linalg::{dot, invert_lower, symmetrise};
use crate::random::fill_normal;
use crate::{Evidence, FeaturePrior, InferError, Prior};

/// u ~ N(m, Sigma), v given u ~ N(theta'(1, u), sigma^2); without an intercept m = 0 and v given u ~ N(theta'u, sigma^2).
///
/// A latent record is (u, v) in normalised units. With no feature it is a normal variable with mean theta_1. The values of a draw
/// are theta, sigma^2 and R^2.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearModel {
    pub(super) prior: Prior,
    pub(super) features: FeaturePrior,
    pub(super) intercept: bool,
    pub(super) known_variance: Option<f64>,
    /// m and Sigma.
    pub(super) known_features: Option<(Vec<f64>, Vec<f64>)>,
}

/// Parameters of a [`LinearModel`] and memory for its draws.
#[derive(Debug, Clone)]
pub struct LinearParameters {
    pub(super) regression: Regression,
    pub(super) features: FeatureLaw,
    /// sigma.
    pub(super) sd: f64,
    /// Inverse of the lower factor of Sigma.
    pub(super) inverse: Vec<f64>,
    /// Gram matrix of (1, u, v).
    pub(super) gram: Vec<f64>,
    /// The affine map of records from other parameters to these: for each number of a record an offset and a row.
    pub(super) map: Vec<f64>,
}

impl LinearModel {
    /// A model with unknown residual variance and unknown law of the features.
    pub fn new(prior: &Prior, features: &FeaturePrior, intercept: bool) -> Result<Self, InferError> {
        let first = usize::from(intercept);
        let expected = prior.dimension().saturating_sub(first);
        if features.dimension() != expected || features.mean().len() != expected * first {
            let means = expected * first;
            let reason = format!(
                "must describe records before they are scaled: {expected} features, a mean of {means} numbers; leave it out for \
                 the default"
            );
            return Err(InferError::prior("features", reason));
        }
        let (prior, features) = (prior.clone(), features.clone());
        Ok(Self { prior, features, intercept, known_variance: None, known_features: None })
    }

    /// The model of the regression that the releases describe.
    pub fn of(evidence: &Evidence, prior: &Prior) -> Result<Self, InferError> {
        prior.check(evidence)?;
        Self::new(prior, &prior.latent_features(evidence), evidence.domain().intercept())
    }

    /// The same with a known residual variance.
    pub fn with_variance(self, variance: f64) -> Result<Self, InferError> {
        if variance.is_finite() && variance > 0.0 {
            return Ok(Self { known_variance: Some(variance), ..self });
        }
        Err(InferError::prior("variance", format!("must be positive and finite, found {variance}")))
    }

    /// The same with a known mean and covariance (row-major) of the features; without an intercept the mean is empty.
    pub fn with_features(self, mean: Vec<f64>, covariance: Vec<f64>) -> Result<Self, InferError> {
        let features = FeaturePrior::new(covariance, self.features.dimension() as f64 + 2.0, mean, 1.0)?;
        let model = Self::new(&self.prior, &features, self.intercept)?;
        let known_features = Some((features.mean().to_vec(), features.scale().to_vec()));
        Ok(Self { known_variance: self.known_variance, known_features, features: self.features, ..model })
    }

    /// 1 with an intercept, else 0: where the features begin among the coefficients.
    pub(super) fn first(&self) -> usize {
        usize::from(self.intercept)
    }

    /// Number of features.
    pub(super) fn dimension(&self) -> usize {
        self.features.dimension()
    }

    /// The expected response.
    #[inline]
    pub(super) fn line(&self, theta: &[f64], features: &[f64]) -> f64 {
        let slopes = theta[self.first()..].iter().zip(features);
        let start = if self.intercept { theta[0] } else { 0.0 };
        slopes.fold(start, |sum, (slope, feature)| sum + slope * feature)
    }

    /// Features from as many standard normal numbers.
    #[inline]
    pub(super) fn colour(&self, parameters: &LinearParameters, record: &mut [f64]) {
        let (features, law) = (self.dimension(), &parameters.features);
        // From the last row up: a row of the factor reads only noise that is still there.
        for row in (0..features).rev() {
            let factors = &law.lower[row * features..row * features + row + 1];
            let sum =
                factors.iter().zip(record.iter()).fold(0.0, |sum, (factor, noise)| sum + factor * noise);
            record[row] = law.mean[row] + sum;
        }
    }

    /// |L^-1 (u - m)|^2.
    #[inline]
    pub(super) fn distance(&self, parameters: &LinearParameters, record: &[f64]) -> f64 {
        let (features, mean) = (self.dimension(), &parameters.features.mean);
        let mut square = 0.0;
        for row in 0..features {
            let factors = &parameters.inverse[row * features..row * features + row + 1];
            let of_row = factors.iter().zip(record).zip(mean);
            let whitened = of_row.fold(0.0, |sum, ((factor, value), mean)| sum + factor * (value - mean));
            square += whitened * whitened;
        }
        square
    }

    /// The Gram matrix of the records, and the law of the features given it.
    pub(super) fn draw_features(
        &self,
        records: &[f64],
        parameters: &mut LinearParameters,
        rng: &mut ChainRng,
    ) -> Result<(), Stop> {
        let count = (records.len() / self.width()) as f64;
        let LinearParameters { features, gram, .. } = parameters;
        self.accumulate(records, gram);
        match self.known_features {
            Some(_) => Ok(()),
            None => features.draw(rng, &self.features, gram, count),
        }
    }

    /// Gram matrix of the records with their constant.
    fn accumulate(&self, records: &[f64], gram: &mut [f64]) {
        let (width, first) = (self.width(), self.first());
        let size = width + first;
        gram.fill(0.0);
        for record in records.chunks_exact(width) {
            if first == 1 {
                gram[1..size].iter_mut().zip(record).for_each(|(sum, value)| *sum += value);
            }
            for (row, factor) in record.iter().enumerate() {
                let start = (row + first) * size + row + first;
                let sums = gram[start..start + width - row].iter_mut();
                sums.zip(&record[row..]).for_each(|(sum, value)| *sum += factor * value);
            }
        }
        if first == 1 {
            gram[0] = (records.len() / width) as f64;
        }
        symmetrise(gram, size);
    }
}

impl LinearParameters {
    fn new(model: &LinearModel) -> Self {
        let (width, size, features) = (model.width(), model.width() + model.first(), model.dimension());
        Self {
            regression: Regression::new(&model.prior),
            features: FeatureLaw::new(features),
            sd: 1.0,
            inverse: vec![0.0; features * features],
            gram: vec![0.0; size * size],
            map: vec![0.0; width * (width + 1)],
        }
    }

    /// What follows from the parameters.
    pub(super) fn complete(&mut self) {
        self.sd = self.regression.variance.sqrt();
        invert_lower(&self.features.lower, &mut self.inverse, self.features.mean.len());
    }
}

impl Generative for LinearModel {
    type Parameters = LinearParameters;

    fn width(&self) -> usize {
        self.dimension() + 1
    }

    fn start(&self, rng: &mut ChainRng) -> Result<LinearParameters, Stop> {
        let mut parameters = LinearParameters::new(self);
        match self.known_variance {
            Some(variance) => parameters.regression.draw_prior_given(rng, &self.prior, variance)?,
            None => parameters.regression.draw_prior(rng, &self.prior)?,
        }
        match &self.known_features {
            Some((mean, covariance)) => {
                if !parameters.features.fix(covariance, mean) {
                    return Err(Stop::numerical("the covariance of the features is not positive definite"));
                }
            }
            None => parameters.features.draw_prior(rng, &self.features)?,
        }
        parameters.complete();
        Ok(parameters)
    }

    #[inline]
    fn draw_record(&self, parameters: &LinearParameters, rng: &mut ChainRng, record: &mut [f64]) {
        fill_normal(rng, record);
        let features = self.dimension();
        self.colour(parameters, &mut record[..features]);
        record[features] =
            self.line(&parameters.regression.theta, &record[..features]) + parameters.sd * record[features];
    }

    fn draw_parameters(
        &self,
        records: &[f64],
        parameters: &mut LinearParameters,
        rng: &mut ChainRng,
    ) -> Result<(), Stop> {
        let count = (records.len() / self.width()) as f64;
        self.draw_features(records, parameters, rng)?;
        let LinearParameters { regression, gram, .. } = parameters;
        match self.known_variance {
            Some(variance) => regression.draw_given(rng, &self.prior, gram, variance)?,
            None => regression.draw(rng, &self.prior, gram, count)?,
        }
        parameters.complete();
        Ok(())
    }

    fn names(&self) -> Vec<String> {
        let theta = (1..=self.prior.dimension()).map(|k| format!("theta[{k}]"));
        theta.chain(["variance".into(), "r_squared".into()]).collect()
    }

    fn write(&self, parameters: &LinearParameters, values: &mut [f64]) {
        let (theta, variance) = (&parameters.regression.theta, parameters.regression.variance);
        let explained = parameters.features.explained(&theta[self.first()..], false);
        values[..theta.len()].copy_from_slice(theta);
        values[theta.len()] = variance;
        values[theta.len() + 1] = explained / (explained + variance);
    }
}

impl RecordDensity for LinearModel {
    #[inline]
    fn log_density(&self, parameters: &LinearParameters, record: &[f64]) -> f64 {
        let (features, response) = record.split_at(self.dimension());
        let residual = (response[0] - self.line(&parameters.regression.theta, features)) / parameters.sd;
        -0.5 * (residual * residual + self.distance(parameters, features))
    }

    fn write_spreads(&self, parameters: &LinearParameters, spreads: &mut [f64]) {
        let features = self.dimension();
        for (row, spread) in spreads[..features].iter_mut().enumerate() {
            let factors = &parameters.features.lower[row * features..(row + 1) * features];
            *spread = dot(factors, factors).sqrt();
        }
        spreads[features] = parameters.sd;
    }
}
