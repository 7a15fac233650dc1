//! `marginal`: coefficients, residual variance and moments of the features given noisy Gram matrices, the true ones integrated out.
//!
//! **Target.** (theta, sigma^2, Sigma_x, and mu where there is a constant) given every party's noisy Gram matrix. Records are normal:
//! x ~ N(0, Sigma_x), or x = (1, u) with u ~ N(mu, Sigma_x); y = x'theta + e, e ~ N(0, sigma^2). Noise is Gaussian and isometric, but for
//! y'y, which may have its own scale or be missing. **Exactness.** The sum of n independent w w' is taken for a normal matrix with
//! the same mean and covariance (the approximation of \[BS19\] section 3.4.1); everything else is exact, also for fewer records
//! than coefficients. **Cost.** O((J + G) p^3) per gradient for J parties with G different sets of weights, p = d + 1: in the
//! eigenbasis of E w w' the covariance of the noisy Gram matrix is diagonal but for one or two directions.
//!
//! Draws are (theta, sigma^2, R^2). Bits are the same on all machines for the density up to 12 coordinates of a record.

mod bend;
mod climb;
mod coordinates;
mod estimate;
mod frame;
mod likelihood;
mod parties;
mod pooled;
mod prior;
mod refine;
mod root;
mod rows;
#[cfg(test)]
mod tests;

use organza_mcmc::{ChainRng, Gradient, LogDensity, Mass, Nuts, Plan};

use crate::lent::Lent;
use crate::noise_level::NoiseLevel;
use crate::prior::FeaturePrior;
use crate::random::fill_normal;
use crate::{Evidence, InferError, Prior};
use coordinates::{Coordinates, Parameters};
use frame::Frame;
use likelihood::LikelihoodSpace;
use parties::Group;
use pooled::Pooled;
use prior::{CoordinatePrior, PriorSpace};

/// The posterior density as a target of NUTS.
#[derive(Debug)]
pub struct MarginalDensity {
    groups: Vec<Group>,
    coordinates: Coordinates,
    prior: CoordinatePrior,
    coefficients: usize,
    /// Whether the first coefficient belongs to a constant, which may be scaled.
    intercept: bool,
    noise: NoiseLevel,
    spaces: Lent<Space>,
}

/// Memory of one evaluation.
#[derive(Debug)]
struct Space {
    parameters: Parameters,
    likelihood: LikelihoodSpace,
    prior: PriorSpace,
    gradient: Vec<f64>,
}

/// The rate of acceptance to aim at. Where noise hides all directions of the features the heavy tails of the prior are explored, and longer steps would diverge now
/// and then.
fn target_accept(noise: NoiseLevel) -> f64 {
    if noise == NoiseLevel::Overwhelming { 0.98 } else { 0.9 }
}

impl MarginalDensity {
    /// Prepares the density; an error if a release lacks something.
    pub fn new(evidence: &Evidence, prior: &Prior) -> Result<Self, InferError> {
        prior.check(evidence)?;
        let features = prior.features(evidence)?;
        let groups = parties::group(evidence)?;
        let (varying, degrees) = (features.dimension(), features.degrees());
        let trace: f64 = (0..varying).map(|k| features.scale()[k * varying + k] / degrees).sum();
        let typical = if varying > 0 { trace / varying as f64 } else { 1.0 };
        let pooled = Pooled::new(&groups, evidence.dimension() + 1, typical);
        let rough = Self::in_frame(groups, prior, &features, estimate::frame(&pooled, prior, &features)?)?;
        let frame = refine::at_mode(&rough, &pooled, &features);
        let mut density = Self::in_frame(rough.groups, prior, &features, frame)?;
        density.intercept = evidence.domain().intercept();
        density.noise = NoiseLevel::of(evidence);
        density.coordinates = Coordinates::new(refine::decouple(&density), varying < density.coefficients);
        Ok(density)
    }

    /// The sampler that suits it: coordinates are nearly independent, and where noise is low nearly normal.
    pub fn sampler(&self, plan: &Plan) -> Nuts {
        let mass = if self.noise == NoiseLevel::Low { Mass::NearNormal } else { Mass::Diagonal };
        Nuts { target_accept: target_accept(self.noise), mass, ..Nuts::for_plan(plan) }
    }

    fn in_frame(
        groups: Vec<Group>,
        prior: &Prior,
        features: &FeaturePrior,
        frame: Frame,
    ) -> Result<Self, InferError> {
        let coefficients = prior.dimension();
        let prior = CoordinatePrior::new(prior, features, &frame)?;
        let coordinates = Coordinates::new(frame, features.dimension() < coefficients);
        let (intercept, noise, spaces) = (false, NoiseLevel::Low, Lent::default());
        Ok(Self { groups, coordinates, prior, coefficients, intercept, noise, spaces })
    }

    /// Works with memory from the pool.
    fn with_space<R>(&self, work: impl FnOnce(&mut Space) -> R) -> R {
        self.spaces.with(|| self.space(), work)
    }

    fn space(&self) -> Space {
        Space {
            parameters: Parameters::new(self.coefficients),
            likelihood: LikelihoodSpace::new(self.coefficients + 1),
            prior: self.prior.space(),
            gradient: vec![0.0; self.coordinates.dim()],
        }
    }

    fn evaluate(&self, point: &[f64], space: &mut Space, gradient: &mut [f64]) -> f64 {
        let Space { parameters, likelihood, prior, .. } = space;
        self.coordinates.read(point, parameters);
        self.coordinates.second_moments(parameters);
        let mut value = likelihood.evaluate(&self.groups, &parameters.moments);
        self.coordinates.pull_back(&likelihood.gradient, parameters);
        value += self.prior.add(parameters, prior) + parameters.log_slope;
        self.coordinates.write_gradient(parameters, gradient);
        if value.is_finite() { value } else { f64::NEG_INFINITY }
    }
}

impl LogDensity for MarginalDensity {
    fn dim(&self) -> usize {
        self.coordinates.dim()
    }

    fn log_density(&self, point: &[f64]) -> f64 {
        self.with_space(|space| {
            let mut gradient = std::mem::take(&mut space.gradient);
            let value = self.evaluate(point, space, &mut gradient);
            space.gradient = gradient;
            value
        })
    }

    /// Each coordinate one guessed standard deviation away from the estimate, to either side: as far as typical points are, and
    /// as [`Mass::NearNormal`] wants it.
    fn start(&self, rng: &mut ChainRng, point: &mut [f64]) {
        fill_normal(rng, point);
        point.iter_mut().for_each(|value| *value = 1f64.copysign(*value));
    }
}

impl Gradient for MarginalDensity {
    fn log_density_and_gradient(&self, point: &[f64], gradient: &mut [f64]) -> f64 {
        self.with_space(|space| self.evaluate(point, space, gradient))
    }

    fn outputs(&self) -> usize {
        self.coefficients + 2
    }

    fn write_outputs(&self, point: &[f64], _rng: &mut ChainRng, outputs: &mut [f64]) {
        self.with_space(|space| {
            let parameters = &mut space.parameters;
            self.coordinates.read(point, parameters);
            let (theta, rest) = outputs.split_at_mut(self.coefficients);
            theta.copy_from_slice(&parameters.theta);
            let explained = self.coordinates.explained_variance(parameters, self.intercept);
            rest.copy_from_slice(&[parameters.variance, explained / (explained + parameters.variance)]);
        });
    }
}
