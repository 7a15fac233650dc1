//! `marginal`: coefficients, residual variance and moments of the features given noisy Gram matrices, the true ones integrated out.
//!
//! **Target.** The population of the records given the noisy Gram matrices: means and covariance of the features, coefficients, residual variance.
//! Records are normal: x ~ N(0, Sigma_x), or x = (1, u) with u ~ N(mu, Sigma_x); y = x'theta + e, e ~ N(0, sigma^2). Noise is Gaussian or Laplace; y'y
//! may be missing. Records that were scaled by c count as c^2 records: the sum of c^2 is the first entry of the
//! Gram matrix, so it is known up to noise, and cov(X'y | X) = sigma^2 sum c^4 x x' is at most sigma^2 X'X. Where the number of records
//! is not public that entry is what is known of it. **Exactness.** The sum of n independent w w' is taken for a normal matrix with
//! the same mean and covariance (the approximation of \[BS19\] section 3.4.1); everything else is exact. **Cost.** O(p^3) per gradient and set of
//! weights, p = d + 1, whatever the number of parties, where noise is Gaussian and isometric: in the
//! eigenbasis of E w w' the covariance of the noisy Gram matrix is diagonal but for one or two directions. O(p^6) where it is not.
//!
//! Draws are (theta, sigma^2, R^2), and for every coefficient the variance that it would have if the sums had no noise. Bits are the same on all machines for the density up to 12 coordinates of a record.
//!
//! | file | what |
//! | --- | --- |
//! | `parties` | which Gram matrices are added up |
//! | `population` | coordinates of the chain |
//! | `likelihood`, `uneven` | density of the sums |
//! | `prior` | the default prior, and given ones |
//! | `start`, `lbfgs` | the mode and the curvature there |

mod lbfgs;
mod likelihood;
mod parties;
mod population;
mod prior;
mod start;
#[cfg(test)]
mod tests;
mod uneven;

use organza_mcmc::{ChainRng, Gradient, LogDensity, Mass, Nuts, Plan};
use organza_release::units::CoefficientMap;

use crate::lent::Lent;
use crate::linalg::{dot, solve_lower};
use crate::noise_level::NoiseLevel;
use crate::random::fill_normal;
use crate::{Evidence, InferError, Method, Prior, judge};
use likelihood::LikelihoodSpace;
use parties::Sums;
use population::{Population, Shape};
use prior::{PointPrior, PriorSpace};
pub(crate) use uneven::MOST_UNEVEN;
use uneven::{Slopes, UnevenSpace};

/// The posterior density as a target of NUTS.
#[derive(Debug)]
pub struct MarginalDensity {
    sums: Sums,
    shape: Shape,
    anchors: Vec<f64>,
    prior: PointPrior,
    frame: Frame,
    /// Users' zero in normalised units, feature by feature.
    origin: Vec<f64>,
    noise: NoiseLevel,
    spaces: Lent<Space>,
}

/// Coordinates of the chain: a point of the population is the centre plus axes times them.
#[derive(Debug, Clone)]
struct Frame {
    centre: Vec<f64>,
    axes: Axes,
}

#[derive(Debug, Clone)]
enum Axes {
    /// A scale for every coordinate.
    Scales(Vec<f64>),
    /// A matrix, row-major.
    Turned(Vec<f64>),
}

/// Memory of one evaluation.
#[derive(Debug)]
struct Space {
    point: Vec<f64>,
    slope: Vec<f64>,
    population: Population,
    likelihood: LikelihoodSpace,
    uneven: UnevenSpace,
    prior: PriorSpace,
    gradient: Vec<f64>,
}

impl MarginalDensity {
    /// Prepares the density; an error if a release lacks something.
    pub fn new(evidence: &Evidence, prior: &Prior) -> Result<Self, InferError> {
        let sums = Sums::new(judge::accept(Method::Marginal, evidence)?);
        let domain = evidence.domain();
        let shape = Shape {
            features: domain.feature_count(),
            constant: domain.intercept(),
            counts: sums.counts.len(),
            variances: sums.variances.len(),
        };
        let (point, anchors) = start::estimate(&sums, shape);
        let mut density = Self {
            prior: PointPrior::new(prior, evidence, &sums)?,
            frame: Frame::at(point),
            anchors,
            origin: CoefficientMap::new(domain).origin(),
            noise: NoiseLevel::of(evidence),
            spaces: Lent::default(),
            sums,
            shape,
        };
        start::settle(&mut density);
        Ok(density)
    }

    /// The sampler that suits it: coordinates are nearly independent, and where noise is low nearly normal.
    pub fn sampler(&self, plan: &Plan) -> Nuts {
        let mass = if self.noise == NoiseLevel::Low { Mass::NearNormal } else { Mass::Diagonal };
        Nuts { target_accept: 0.9, mass, ..Nuts::for_plan(plan) }
    }

    /// Works with memory from the pool.
    fn with_space<R>(&self, work: impl FnOnce(&mut Space) -> R) -> R {
        self.spaces.with(|| self.space(), work)
    }

    fn space(&self) -> Space {
        let line = vec![0.0; self.shape.dim()];
        Space {
            point: line.clone(),
            slope: line.clone(),
            population: Population::new(self.shape, &self.anchors),
            likelihood: LikelihoodSpace::new(self.shape.record(), self.shape.counts),
            uneven: UnevenSpace::new(self.sums.uneven.iter().map(|sum| sum.places.len()).max().unwrap_or(0)),
            prior: self.prior.space(self.shape),
            gradient: line,
        }
    }

    fn evaluate(&self, coordinates: &[f64], space: &mut Space, gradient: &mut [f64]) -> f64 {
        let Space { point, slope, population, likelihood, uneven, prior, .. } = space;
        self.frame.read(coordinates, point);
        let mut value = population.read(point);
        population.fill_moments();
        value += likelihood.evaluate(&self.sums.groups, &population.moments, &population.counts);
        population.variances_slope.fill(0.0);
        for sum in &self.sums.uneven {
            let slopes = Slopes {
                moments: &mut likelihood.gradient,
                counts: &mut likelihood.counts_gradient,
                variances: &mut population.variances_slope,
            };
            value += uneven.evaluate(
                sum,
                &population.moments,
                (&population.counts, &population.variances),
                slopes,
            );
        }
        population.pull_back(&likelihood.gradient);
        population.counts_slope.copy_from_slice(&likelihood.counts_gradient);
        value += self.prior.add(population, prior);
        population.write_gradient(point, slope);
        self.frame.pull_back(slope, gradient);
        if value.is_finite() { value } else { f64::NEG_INFINITY }
    }
}

impl LogDensity for MarginalDensity {
    fn dim(&self) -> usize {
        self.shape.dim()
    }

    fn log_density(&self, point: &[f64]) -> f64 {
        self.with_space(|space| {
            let mut gradient = std::mem::take(&mut space.gradient);
            let value = self.evaluate(point, space, &mut gradient);
            space.gradient = gradient;
            value
        })
    }

    /// Each coordinate one guessed standard deviation away from the mode, to either side: as far as typical points are, and
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
        2 * self.shape.coefficients() + 2
    }

    fn write_outputs(&self, point: &[f64], _rng: &mut ChainRng, outputs: &mut [f64]) {
        self.with_space(|space| {
            let Space { point: at, population, .. } = space;
            self.frame.read(point, at);
            population.read(at);
            let size = self.shape.coefficients();
            population.coefficients(&mut outputs[..size]);
            let sigma = population.residual_sd();
            let share = 1.0 - 1.0 / population.norms[self.shape.features].powi(2);
            outputs[size..size + 2].copy_from_slice(&[sigma * sigma, share]);
            self.quiet_variances(population, sigma * sigma / self.sums.records(), &mut outputs[size + 2..]);
        });
    }
}

impl MarginalDensity {
    /// Variances of the coefficients, the intercept at users' zero, given the sums without noise: factor times the diagonal of the inverse second moments.
    fn quiet_variances(&self, population: &Population, factor: f64, variances: &mut [f64]) {
        let (features, columns) = (self.shape.features, self.shape.columns());
        let offset = usize::from(self.shape.constant);
        let root: Vec<f64> = (0..features * features)
            .map(|k| population.root[k / features * columns + k % features])
            .collect();
        let mut line = vec![0.0; features];
        for k in 0..features {
            line.fill(0.0);
            line[k] = 1.0;
            solve_lower(&root, &mut line);
            variances[k + offset] = factor * dot(&line, &line);
        }
        if offset == 1 {
            line.iter_mut()
                .zip(self.origin.iter().zip(&population.mean))
                .for_each(|(to, (x, mean))| *to = x - mean);
            solve_lower(&root, &mut line);
            variances[0] = factor * (1.0 + dot(&line, &line));
        }
    }
}
