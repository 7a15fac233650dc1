//! The prior of the features, for the methods that describe their distribution.

use crate::evidence::Features;
use crate::linalg::Cholesky;
use crate::{Evidence, InferError};

/// Sigma_x ~ IW(Lambda, kappa), mu | Sigma_x ~ N(mu_0, Sigma_x / k_0) where the features have a mean.
#[derive(Debug, Clone, PartialEq)]
pub struct FeaturePrior {
    scale: Vec<f64>,
    degrees: f64,
    mean: Vec<f64>,
    mean_records: f64,
}

/// A uniform feature has variance 1/3, one that uses a fifth of its bounds 0.01; the geometric mean of these is near 0.06, and
/// scaled records are built to have about 0.1.
const USUAL_VARIANCE: f64 = 0.1;

impl FeaturePrior {
    /// A prior with scale matrix Lambda (row-major), kappa degrees of freedom, and a mean worth `mean_records` records.
    ///
    /// Records with a constant that varies (they are scaled) count it as a feature and have no mean: give an empty one.
    pub fn new(scale: Vec<f64>, degrees: f64, mean: Vec<f64>, mean_records: f64) -> Result<Self, InferError> {
        let size = scale.len().isqrt();
        if size * size != scale.len() || Cholesky::new(&scale, size).is_err() {
            return Err(InferError::prior("features.scale", "must be a positive definite square matrix"));
        }
        if !(degrees.is_finite() && degrees > size as f64 - 1.0) {
            let reason = format!("must be more than {}, found {degrees}", size as f64 - 1.0);
            return Err(InferError::prior("features.degrees", reason));
        }
        super::positive("features.mean_records", mean_records)?;
        if mean.iter().any(|value| !value.is_finite()) {
            return Err(InferError::prior("features.mean", "must be finite"));
        }
        Ok(Self { scale, degrees, mean, mean_records })
    }

    /// Weakly informative: as much as three records say. Its mean is a variance of 0.1 for every feature (1 for a scaled constant),
    /// uncorrelated, and the mean of the features is known as if from one record at the centre of the bounds.
    pub fn weak(evidence: &Evidence) -> Self {
        let all = evidence.dimension();
        let (size, constant) = match evidence.features() {
            Features::Centred => (all, evidence.domain().intercept()),
            Features::Intercept => (all - 1, false),
        };
        let mut prior = Self::usual(size, evidence.features() == Features::Intercept);
        if constant {
            prior.scale[0] = 1.0;
        }
        prior
    }

    /// The same for records as they were before scaling: the constant is not among the features.
    pub(super) fn weak_latent(evidence: &Evidence) -> Self {
        let domain = evidence.domain();
        Self::usual(domain.feature_count(), domain.intercept())
    }

    fn usual(size: usize, has_mean: bool) -> Self {
        let mut scale = vec![0.0; size * size];
        (0..size).for_each(|k| scale[k * size + k] = USUAL_VARIANCE);
        let mean = if has_mean { vec![0.0; size] } else { vec![] };
        // With kappa = size + 2 the mean of Sigma_x is Lambda.
        Self { scale, degrees: size as f64 + 2.0, mean, mean_records: 1.0 }
    }

    /// Features that vary.
    pub fn dimension(&self) -> usize {
        self.scale.len().isqrt()
    }

    /// Lambda, row-major.
    pub fn scale(&self) -> &[f64] {
        &self.scale
    }

    /// kappa.
    pub fn degrees(&self) -> f64 {
        self.degrees
    }

    /// mu_0; empty if the features have none.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// k_0: how many records the prior mean is worth.
    pub fn mean_records(&self) -> f64 {
        self.mean_records
    }

    /// The law of the others if the first coordinate, a constant that is scaled, is taken out: a block of an inverse Wishart matrix
    /// has one degree less for each coordinate without it. Features then have a mean, 0, worth as many records as this prior says.
    pub(crate) fn without_first(&self) -> Result<Self, InferError> {
        let (size, inner) = (self.dimension(), self.dimension() - 1);
        let entry = |k: usize| self.scale[(k / inner + 1) * size + k % inner + 1];
        let scale = (0..inner * inner).map(entry).collect();
        Self::new(scale, self.degrees - 1.0, vec![0.0; inner], self.mean_records)
    }

    pub(super) fn check(&self, evidence: &Evidence) -> Result<(), InferError> {
        let expected = Self::weak(evidence);
        if self.dimension() != expected.dimension() {
            let (found, size) = (self.dimension(), expected.dimension());
            let reason = format!("is for {found} features, the releases have {size} that vary");
            return Err(InferError::prior("features.scale", reason));
        }
        if self.mean.len() != expected.mean.len() {
            let (found, size) = (self.mean.len(), expected.mean.len());
            return Err(InferError::prior("features.mean", format!("has {found} numbers, expected {size}")));
        }
        Ok(())
    }
}
