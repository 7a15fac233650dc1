//! `individual`: coefficients, residual variance and every latent record, given noisy sums over the mapped records.
//!
//! **Target.** (theta, sigma^2, mu, Sigma_x and the records of all parties) given every party's noisy Gram entries: the model of
//! \[BS19\] section 3.3 (MCMC-Ind), with Gaussian or Laplace noise. Plain records are normal, u ~ N(mu, Sigma_x) (mu = 0 without an
//! intercept) and v = theta'(1, u) + e, e ~ N(0, sigma^2), in normalised units; they are cut and scaled as the curator does it
//! before they are summed. **Exactness.** Exact for any number of records: no sum is taken for normal, and what cutting and scaling
//! do to the sums is part of the model. (The grid of the curator is ignored.) **Cost.** O(n d^2 + J d^3) per gradient.
//!
//! Theta, mu and Sigma_x are integrated out: given the records they have closed forms, from which every draw takes its own.
//! Records are sampled as their mean, their scatter and an orthonormal frame: noise holds on to the former two, and only where
//! records are cut or scaled does it touch the frame, whose coordinates are standard normal otherwise. With coefficients and plain
//! records as coordinates every path would have to keep thousands of them on the few sums that are known.
//!
//! Draws are (theta, sigma^2, R^2).

mod coordinates;
mod estimate;
mod latent;
mod mixing;
mod moments;
mod parties;
mod population;
#[cfg(test)]
mod tests;

use organza_mcmc::{ChainRng, Gradient, LogDensity, Nuts, Plan};

use crate::lent::Lent;
use crate::linalg::Cholesky;
use crate::noise_level::NoiseLevel;
use crate::random::{fill_normal, normal};
use crate::{Evidence, InferError, Method, Prior, judge};
use coordinates::Coordinates;
use estimate::Expected;
use latent::{LatentSpace, Moments};
use moments::PartyMoments;
pub(crate) use parties::MOST_RECORDS;
use parties::Observed;
use population::{Population, PopulationSpace};

/// The posterior density of latent records as a target of NUTS.
///
/// Coordinates: that of sigma^2, the moments of every party's records, then the frames.
#[derive(Debug)]
pub struct IndividualDensity {
    parties: Vec<Observed>,
    population: Population,
    coordinates: Coordinates,
    /// Blocks of moments at the estimate, one after the other, and how far from there chains start.
    centres: Vec<f64>,
    spreads: Vec<f64>,
    target_accept: f64,
    dim: usize,
    outputs: usize,
    spaces: Lent<Space>,
}

/// Memory of one evaluation.
#[derive(Debug)]
struct Space {
    blocks: Vec<f64>,
    moments: Vec<PartyMoments>,
    population: PopulationSpace,
    latent: LatentSpace,
    gradient: Vec<f64>,
}

/// The rate of acceptance to aim at. 0.8 has most effective draws per second for one covariate; where noise drowns several features
/// the heavy tails of the prior are explored, and longer steps diverge now and then.
fn target_accept(noise: NoiseLevel, coefficients: usize) -> f64 {
    match noise {
        NoiseLevel::Low => 0.8,
        _ if coefficients <= 2 => 0.8,
        NoiseLevel::Partial => 0.9,
        NoiseLevel::Overwhelming => 0.97,
    }
}
/// Starts are spread by this much where noise drowns the sums.
const DISPERSION: f64 = 0.5;

impl IndividualDensity {
    /// Prepares the density; an error if a release lacks something.
    pub fn new(evidence: &Evidence, prior: &Prior) -> Result<Self, InferError> {
        prior.check(evidence)?;
        let parties = parties::read(judge::accept(Method::Individual, evidence)?);
        let features = population::features_of_plain_records(prior, evidence)?;
        let records = parties.iter().map(|party| party.latent as f64).sum();
        let covariance = Cholesky::new(prior.precision(), prior.dimension())?.inverse();
        let coordinates = Coordinates::new(prior, &covariance, &features, records);
        let (mut centres, mut spreads) = (Vec::new(), Vec::new());
        let expected = Expected::new(prior, &features);
        for party in &parties {
            let estimate = expected.combine(party);
            let mut moments = coordinates.moments(party.latent);
            centres.extend(coordinates.centre(&estimate.mean, &estimate.triangle, &mut moments));
            spreads.push(DISPERSION * estimate.spread);
        }
        let offset = usize::from(coordinates.constant());
        let free: usize = parties.iter().map(|party| party.latent * coordinates.varying()).sum();
        Ok(Self {
            dim: 1 + centres.len() + free,
            outputs: prior.dimension() + 2,
            population: Population::new(prior, features, offset, records),
            parties,
            coordinates,
            centres,
            spreads,
            target_accept: target_accept(NoiseLevel::of(evidence), prior.dimension()),
            spaces: Lent::default(),
        })
    }

    /// The sampler that suits it.
    pub fn sampler(&self, plan: &Plan) -> Nuts {
        Nuts { target_accept: self.target_accept, ..Nuts::for_plan(plan) }
    }

    /// Works with memory from the pool.
    fn with_space<R>(&self, work: impl FnOnce(&mut Space) -> R) -> R {
        self.spaces.with(|| self.space(), work)
    }

    fn space(&self) -> Space {
        let (varying, constant) = (self.coordinates.varying(), self.coordinates.constant());
        let most = self.parties.iter().map(|party| party.records).max().unwrap_or(0);
        Space {
            blocks: vec![0.0; self.centres.len()],
            moments: self.parties.iter().map(|party| self.coordinates.moments(party.latent)).collect(),
            population: self.population.space(),
            latent: LatentSpace::new(varying, constant, most),
            gradient: vec![0.0; self.dim],
        }
    }

    /// Fills in the moments of all parties and the Gram matrix of all records; returns sigma^2.
    fn read(&self, point: &[f64], space: &mut Space) -> f64 {
        let block = self.coordinates.block();
        space.blocks.copy_from_slice(&point[1..=self.centres.len()]);
        mixing::reflect(&mut space.blocks, self.parties.len());
        let (blocks, centres) = (space.blocks.chunks_exact(block), self.centres.chunks_exact(block));
        for ((own, centre), moments) in blocks.zip(centres).zip(&mut space.moments) {
            self.coordinates.read_features(own, centre, moments);
        }
        let variance = self.coordinates.variance(point[0], &space.moments);
        space.population.gram.fill(0.0);
        for moments in &mut space.moments {
            self.coordinates.read_response(variance, moments);
            moments.add_gram(&mut space.population.gram);
        }
        variance
    }

    fn evaluate(&self, point: &[f64], space: &mut Space, gradient: &mut [f64]) -> f64 {
        let variance = self.read(point, space);
        let Space { blocks, moments, population, latent, .. } = space;
        let mut value = self.population.evaluate(variance, population);
        let (block, mut of_variance) = (self.coordinates.block(), 0.0);
        let mut start = 1 + self.centres.len();
        let parties = self.parties.iter().zip(moments.iter_mut()).zip(blocks.chunks_exact_mut(block));
        for ((party, at), block) in parties {
            let end = start + party.latent * self.coordinates.varying();
            value += self.coordinates.log_volume(at);
            at.start_slopes(&population.gradient);
            let (free, slopes) = (&point[start..end], &mut gradient[start..end]);
            value += latent.evaluate(party, free, &mut Moments::of(at), slopes);
            of_variance += self.coordinates.pull_back_response(variance, at, block);
            start = end;
        }
        let of_log_variance = of_variance * variance + population.log_variance_gradient;
        gradient[0] = self.coordinates.pull_back_variance(of_log_variance, moments);
        for (at, block) in moments.iter_mut().zip(blocks.chunks_exact_mut(block)) {
            self.coordinates.pull_back_features(at, block);
        }
        mixing::reflect(blocks, self.parties.len());
        gradient[1..=blocks.len()].copy_from_slice(blocks);
        if value.is_finite() { value } else { f64::NEG_INFINITY }
    }
}

impl LogDensity for IndividualDensity {
    fn dim(&self) -> usize {
        self.dim
    }

    fn log_density(&self, point: &[f64]) -> f64 {
        self.with_space(|space| {
            let mut gradient = std::mem::take(&mut space.gradient);
            let value = self.evaluate(point, space, &mut gradient);
            space.gradient = gradient;
            value
        })
    }

    /// Moments around their estimates, as far as noise leaves them open; frames from the prior.
    fn start(&self, rng: &mut ChainRng, point: &mut [f64]) {
        fill_normal(rng, point);
        let blocks = &mut point[1..=self.centres.len()];
        for (block, spread) in blocks.chunks_exact_mut(self.coordinates.block()).zip(&self.spreads) {
            block.iter_mut().for_each(|value| *value = spread * normal(rng));
        }
        mixing::reflect(blocks, self.parties.len());
    }
}

impl Gradient for IndividualDensity {
    fn log_density_and_gradient(&self, point: &[f64], gradient: &mut [f64]) -> f64 {
        self.with_space(|space| self.evaluate(point, space, gradient))
    }

    fn outputs(&self) -> usize {
        self.outputs
    }

    fn write_outputs(&self, point: &[f64], rng: &mut ChainRng, outputs: &mut [f64]) {
        self.with_space(|space| {
            let variance = self.read(point, space);
            self.population.draw(variance, &mut space.population, rng, outputs);
        });
    }
}
