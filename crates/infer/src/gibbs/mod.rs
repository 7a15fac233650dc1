//! `gibbs-update`, `gibbs-prior`, `gibbs-noisy`: latent Gram matrices and parameters, drawn in turn.
//!
//! **Target.** Coefficients theta and residual variance sigma^2, with one latent Gram matrix s_j per party: s_j ~ N(n_j mu_t, n_j Sigma_t),
//! the normal limit of a sum over records, and z_j = s_j + noise, Gaussian or Laplace. Moments of the features: learnt with a normal
//! model (`update`), those of N(mu_0, Lambda / (kappa - p - 1)), the mean of the feature prior for p features (`prior`), or a noisy
//! release of fourth moments (`noisy`).
//! **Exactness.** Every draw is exact for its conditional law, but *the conditionals are not those of one joint law*: s_j given the
//! parameters is taken as normal, the parameters given the sum of the s_j as if it were the Gram matrix of n real records. For many
//! records they agree, and with `marginal`; for few (n = 10) intervals are about a fifth too wide. `prior` and `noisy` ignore that
//! their moments are uncertain. A sum of Gram matrices that is not positive semi-definite is projected (the info says how often);
//! few records (fewer than features, too) are no other difficulty, since the normal law of s_j exists for every n_j.
//! **Cost.** O(d^3) per step and distinct kind of party for normal features and isometric Gaussian noise, else O(d^6). Consecutive
//! draws are correlated where the noise exceeds the sampling error of the Gram matrix: prefer `marginal` where it applies.
//! **Citation.** \[BS19\] Algorithm 1; \[AYB23\] section C.1 for several parties.
//!
//! | paper | here |
//! | --- | --- |
//! | s, z, omega^2 | latent Gram matrix, released one, variance of the noise given the mixture |
//! | mu_t, Sigma_t | `second`, `covariance` of a record law |
//! | eta_ij, xi_ij,kl | `second`, `covariance` of [`FourthMoments`] |

mod dense;
mod features;
mod fourth;
mod fourth_moments;
mod normal;
mod pool;
mod projection;
mod record;
mod regression;
mod sampler;
mod spectral;
#[cfg(test)]
mod tests;

pub(crate) use dense::entries;
pub(crate) use features::FeatureLaw;
pub use fourth_moments::FourthMoments;
pub(crate) use regression::Regression;
pub use sampler::{GibbsInfo, GibbsSampler, GibbsState};

use dense::DensePool;
use fourth::FourthRecord;
use normal::NormalRecord;
use pool::Pool;
use record::RecordLaw;
use spectral::Basis;

use crate::evidence::Features;
use crate::judge::{self, Need};
use crate::{Evidence, FeaturePrior, InferError, Method, Prior};

/// Where the moments of the features come from.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Moments {
    /// Learnt: a normal model whose mean and covariance are drawn in every step.
    Update,
    /// Those of the mean of the feature prior, N(mu_0, Lambda / (kappa - p - 1)).
    Prior,
    /// Released with noise of their own.
    Noisy(FourthMoments),
}

impl Moments {
    /// Whose they are.
    pub fn method(&self) -> Method {
        match self {
            Self::Update => Method::GibbsUpdate,
            Self::Prior => Method::GibbsPrior,
            Self::Noisy(_) => Method::GibbsNoisy,
        }
    }
}

/// The model whose full conditionals [`GibbsSampler`] draws from in turn.
#[derive(Debug, Clone)]
pub struct Gibbs {
    /// Coordinates of a record, the response included.
    size: usize,
    /// Whether the first of them is the constant 1.
    constant: bool,
    /// Whether the first of them is a constant that was scaled with the rest of the record.
    scaled_constant: bool,
    records: f64,
    prior: Prior,
    features: FeaturePrior,
    moments: Moments,
    pools: Vec<Pool>,
    /// Pools with an O(d^3) conditional, by weights.
    bases: Vec<Basis>,
    /// The others.
    dense: Vec<DensePool>,
}

impl Gibbs {
    /// Checks that the releases and the prior have what the method needs.
    pub fn new(evidence: &Evidence, prior: &Prior, moments: Moments) -> Result<Self, InferError> {
        prior.check(evidence)?;
        let features = prior.features(evidence)?;
        let constant = evidence.features() == Features::Intercept;
        let scaled_constant = evidence.domain().intercept() && !constant;
        let brought = matches!(moments, Moments::Noisy(_)).then_some(Need::FourthMoments);
        let pools = Pool::of(judge::accept_without(moments.method(), evidence, brought)?);
        check_moments(evidence, &features, &moments)?;
        let records = pools.iter().map(Pool::records).sum();
        let (size, prior) = (evidence.dimension() + 1, prior.clone());
        let (bases, dense) = (vec![], vec![]);
        let mut gibbs =
            Self { size, constant, scaled_constant, records, prior, features, moments, pools, bases, dense };
        gibbs.arrange(true);
        Ok(gibbs)
    }

    /// The same with the O(d^6) conditional for every party: the law of the draws does not change.
    pub fn dense(mut self) -> Self {
        self.arrange(false);
        self
    }

    /// Number of coefficients.
    pub fn dimension(&self) -> usize {
        self.size - 1
    }

    fn arrange(&mut self, spectral: bool) {
        (self.bases, self.dense) = (vec![], vec![]);
        let entries = dense::entries(self.size, self.constant);
        let normal = !matches!(self.moments, Moments::Noisy(_));
        for pool in &self.pools {
            match pool.noise.isometry().filter(|noise| spectral && normal && noise.scale > 0.0) {
                Some(isometry) => Basis::insert(&mut self.bases, pool, isometry),
                None => self.dense.push(DensePool::new(pool, &entries)),
            }
        }
    }

    /// The law of a record, its parameters not yet set, and that of the features.
    fn laws(&self) -> (RecordLaw, FeatureLaw) {
        let mut law = FeatureLaw::new(self.features.dimension());
        let record = match &self.moments {
            Moments::Noisy(moments) => RecordLaw::Fourth(FourthRecord::new(moments.clone())),
            _ => RecordLaw::Normal(NormalRecord::new(self.size, self.constant)),
        };
        law.fix(&self.prior_covariance(), self.features.mean());
        (record, law)
    }

    /// Lambda / (kappa - p - 1); Lambda itself if that has no meaning, where it is not used.
    fn prior_covariance(&self) -> Vec<f64> {
        let slack = self.features.degrees() - self.features.dimension() as f64 - 1.0;
        let factor = if slack > 0.0 { 1.0 / slack } else { 1.0 };
        self.features.scale().iter().map(|value| factor * value).collect()
    }
}

fn check_moments(evidence: &Evidence, features: &FeaturePrior, moments: &Moments) -> Result<(), InferError> {
    match moments {
        Moments::Update => Ok(()),
        Moments::Prior => {
            let least = features.dimension() as f64 + 1.0;
            if features.degrees() > least {
                return Ok(());
            }
            let found = features.degrees();
            let reason = format!("must be more than {least} for gibbs-prior to have a mean, found {found}");
            Err(InferError::prior("features.degrees", reason))
        }
        Moments::Noisy(fourth) => {
            let (found, expected) = (fourth.dimension(), evidence.dimension());
            if found == expected {
                return Ok(());
            }
            let reason = format!("are of {found} coordinates, the regression has {expected}");
            Err(InferError::Setting { field: "fourth moments", reason })
        }
    }
}
