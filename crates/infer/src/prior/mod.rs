//! The prior, in normalised units.
//!
//! What nobody has given is a default, and [`MarginalDensity`](crate::MarginalDensity) has its own: on the scale of the data, so that it does not know the
//! bounds. The other methods take weak laws of the same form as given ones: coefficients theta ~ N(m, C), or N(m, sigma^2 C) if it is conjugate (\[BS19\] section 2); residual variance sigma^2 ~ IG(a, b);
//! features Sigma_x ~ IW(Lambda, kappa) and, where they have a mean, mu ~ N(mu_0, Sigma_x / k_0). \[AYB23\] Eq. (4).

mod features;
mod file;

pub use features::FeaturePrior;
pub(crate) use file::coefficient_names;
pub use file::{CoefficientsPart, FeaturesPart, PriorFile, Scale, Units, VariancePart};

use crate::linalg::{Cholesky, matrix_vector, quadratic_form};
use crate::{Evidence, InferError};

/// A prior of the coefficients, of the residual variance and of the features.
#[derive(Debug, Clone, PartialEq)]
pub struct Prior {
    mean: Vec<f64>,
    precision: Vec<f64>,
    conjugate: bool,
    shape: f64,
    rate: f64,
    features: Option<FeaturePrior>,
    given: Given,
}

/// What of a prior was given by a person; the rest is a default.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Given {
    /// For every coefficient.
    pub coefficients: Vec<bool>,
    /// The residual variance.
    pub variance: bool,
    /// Precision of the given coefficients and precision times mean, where not all are given.
    part: Option<(Vec<f64>, Vec<f64>)>,
}

impl Prior {
    /// A prior with a dense covariance matrix, row-major, and shape and rate of the residual variance.
    pub fn new(mean: Vec<f64>, covariance: &[f64], (shape, rate): (f64, f64)) -> Result<Self, InferError> {
        let size = mean.len();
        if covariance.len() != size * size {
            let reason = format!("has {} numbers for {size} coefficients", covariance.len());
            return Err(InferError::prior("covariance", reason));
        }
        if mean.iter().any(|value| !value.is_finite()) {
            return Err(InferError::prior("mean", "must be finite"));
        }
        let symmetric = |k: usize| covariance[k] == covariance[k % size * size + k / size];
        if !(0..size * size).all(symmetric) {
            return Err(InferError::prior("covariance", "must be symmetric"));
        }
        positive("shape", shape)?;
        positive("rate", rate)?;
        let factor = Cholesky::new(covariance, size).map_err(|_| {
            InferError::prior("covariance", "must be positive definite: check its diagonal and correlations")
        })?;
        let given = Given { coefficients: vec![true; size], variance: true, part: None };
        Ok(Self { mean, precision: factor.inverse(), conjugate: false, shape, rate, features: None, given })
    }

    /// Shape and rate of the default prior of the residual variance: no mean, and 95 percent of residual sds between 0.04 and 0.44 of the half-range. A larger rate
    /// is no weaker: where noise hides the residual variance, what the prior gives it is taken from the coefficients. Of 21 candidates it has the best interval
    /// scores on random problems (`lab/defaults`).
    pub const WEAK_VARIANCE: (f64, f64) = (1.0, 0.005);

    /// Weakly informative: a coefficient of 1 moves the response by half its range over half the range of the feature, so
    /// N(0, 1) hardly constrains; [`WEAK_VARIANCE`](Self::WEAK_VARIANCE) for the residual variance.
    pub fn weak(coefficients: usize) -> Self {
        let mut precision = vec![0.0; coefficients * coefficients];
        (0..coefficients).for_each(|k| precision[k * coefficients + k] = 1.0);
        let mean = vec![0.0; coefficients];
        let (shape, rate) = Self::WEAK_VARIANCE;
        let given = Given { coefficients: vec![false; coefficients], variance: false, part: None };
        Self { mean, precision, conjugate: false, shape, rate, features: None, given }
    }

    /// The same, of which only these parts were given: coefficients with their precision and precision times mean, and the residual variance.
    pub(crate) fn with_given(
        self,
        coefficients: Vec<bool>,
        part: (Vec<f64>, Vec<f64>),
        variance: bool,
    ) -> Self {
        let part = coefficients.contains(&false).then_some(part);
        Self { given: Given { coefficients, variance, part }, ..self }
    }

    /// What was given.
    pub(crate) fn given(&self) -> &Given {
        &self.given
    }

    /// Precision, and precision times mean, of the coefficients that were given.
    pub(crate) fn of_given(&self) -> (Vec<f64>, Vec<f64>) {
        self.given.part.clone().unwrap_or_else(|| (self.precision.clone(), self.shift()))
    }

    /// The law of the features that was given, for records that are not scaled: of the features alone.
    pub(crate) fn given_features(&self, evidence: &Evidence) -> Result<Option<FeaturePrior>, InferError> {
        let Some(features) = &self.features else { return Ok(None) };
        features.check(evidence)?;
        let plain = features.dimension() == evidence.domain().feature_count();
        Ok(Some(if plain { features.clone() } else { features.without_first()? }))
    }

    /// The same with the covariance of the coefficients multiplied by sigma^2: the normal-inverse-gamma prior of \[BS19\] section 2.
    pub fn conjugate(self) -> Self {
        Self { conjugate: true, ..self }
    }

    /// The same with a prior of the features; without one it is [`FeaturePrior::weak`].
    pub fn with_features(self, features: FeaturePrior) -> Self {
        Self { features: Some(features), ..self }
    }

    /// Number of coefficients.
    pub fn dimension(&self) -> usize {
        self.mean.len()
    }

    /// Mean of the coefficients.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Inverse of their covariance C, row-major.
    pub fn precision(&self) -> &[f64] {
        &self.precision
    }

    /// Whether the covariance of the coefficients is sigma^2 C.
    pub fn is_conjugate(&self) -> bool {
        self.conjugate
    }

    /// Shape a and rate b of the residual variance.
    pub fn variance(&self) -> (f64, f64) {
        (self.shape, self.rate)
    }

    /// The number that multiplies the precision of the coefficients for this residual variance.
    pub(crate) fn precision_factor(&self, variance: f64) -> f64 {
        if self.conjugate { 1.0 / variance } else { 1.0 }
    }

    /// C^-1 m, to be multiplied by [`Self::precision_factor`].
    pub(crate) fn shift(&self) -> Vec<f64> {
        let mut shift = vec![0.0; self.dimension()];
        matrix_vector(&self.precision, &self.mean, &mut shift);
        shift
    }

    /// m' C^-1 m.
    pub(crate) fn mean_norm(&self) -> f64 {
        quadratic_form(&self.precision, &self.mean)
    }

    /// Checks that the prior is about the regression of the evidence.
    pub(crate) fn check(&self, evidence: &Evidence) -> Result<(), InferError> {
        let (found, expected) = (self.dimension(), evidence.dimension());
        if found == expected {
            return Ok(());
        }
        Err(InferError::prior("mean", format!("has {found} coefficients, the regression {expected}")))
    }

    /// The prior of the features, with the default where none was given.
    pub(crate) fn features(&self, evidence: &Evidence) -> Result<FeaturePrior, InferError> {
        let features = self.features.clone().unwrap_or_else(|| FeaturePrior::weak(evidence));
        features.check(evidence)?;
        Ok(features)
    }

    /// The prior of the features of records before they are scaled, with the default where none was given.
    pub(crate) fn latent_features(&self, evidence: &Evidence) -> FeaturePrior {
        self.features.clone().unwrap_or_else(|| FeaturePrior::weak_latent(evidence))
    }

    /// Log density of ln sigma^2, up to a constant.
    pub(crate) fn log_density_of_log_variance(&self, log_variance: f64) -> f64 {
        -self.shape * log_variance - self.rate * libm::exp(-log_variance)
    }

    /// Where that density is largest.
    pub(crate) fn log_variance_mode(&self) -> f64 {
        libm::log(self.rate / self.shape)
    }
}

fn positive(field: &'static str, value: f64) -> Result<(), InferError> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(InferError::prior(field, format!("must be positive and finite, found {value}")))
}
