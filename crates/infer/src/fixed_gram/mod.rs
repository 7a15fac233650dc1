//! `fixed-gram`: coefficients and residual variance, the noisy X'X taken for the true one.
//!
//! **Target.** (theta, sigma^2) given z-hat under the model of `fast` with sigma^2 ~ IG(a, b): the target of \[AYB23\] Algorithm 2.
//! **Exactness.** theta is integrated out in closed form, so ln sigma^2 is the only unknown; its density is smooth and
//! decays on both sides, where the trapezium rule converges geometrically: moments are exact to rounding, without a
//! chain. The noise in S-hat is ignored, as in the paper. **Cost.** O(J d^3) per node, about a hundred nodes.

mod metropolis;
mod quadrature;
mod spectrum;

pub use metropolis::{FixedGramMetropolis, FixedGramModel};
pub(crate) use metropolis::{SCALAR_ACCEPTANCE, log_prior, prior_distance};
pub use quadrature::Quadrature;
pub(crate) use spectrum::Spectrum;

use crate::fast::Conditional;
use crate::{Evidence, Gaussian, InferError, Method, Prior, judge};

/// The posterior as a function of ln sigma^2 on equally spaced nodes.
#[derive(Debug, Clone)]
pub struct FixedGram {
    nodes: Vec<Node>,
    dimension: usize,
    /// ln sigma^2 of the first node, and the distance between nodes.
    first: f64,
    step: f64,
}

/// One node of the quadrature.
#[derive(Debug, Clone)]
struct Node {
    variance: f64,
    /// Log density of ln sigma^2, 0 at the peak.
    log_density: f64,
    /// Normalised to a sum of 1.
    weight: f64,
    /// The mean of the coefficients and a root of their covariance, as [`Conditional::mean_and_root`] packs them.
    mean_and_root: Vec<f64>,
}

/// The density beyond a drop of this much is below the rounding of its peak.
const DROP: f64 = 38.0;
/// Nodes over the support.
const NODES: usize = 96;

impl FixedGram {
    /// Computes the posterior, in normalised units.
    pub fn new(evidence: &Evidence, prior: &Prior) -> Result<Self, InferError> {
        prior.check(evidence)?;
        Self::of_spectra(&Spectrum::of(judge::accept(Method::FixedGram, evidence)?), prior)
    }

    pub(crate) fn of_spectra(parties: &[Spectrum], prior: &Prior) -> Result<Self, InferError> {
        Self::from_conditional(prior, |variance| Conditional::new(parties, prior, variance))
    }

    /// The posterior of any model in which the coefficients are normal given the residual variance.
    pub(crate) fn from_conditional(
        prior: &Prior,
        conditional: impl Fn(f64) -> Conditional,
    ) -> Result<Self, InferError> {
        let at = |point: f64| -> Result<(Conditional, f64), InferError> {
            let conditional = conditional(libm::exp(point));
            let density = conditional.log_marginal()? + prior.log_density_of_log_variance(point);
            Ok((conditional, density))
        };
        let (first, last, peak) = support(&|point| Ok(at(point)?.1), prior.log_variance_mode())?;
        let step = (last - first) / (NODES - 1) as f64;
        let mut nodes = Vec::with_capacity(NODES);
        for index in 0..NODES {
            let point = first + step * index as f64;
            let (conditional, density) = at(point)?;
            let (log_density, weight) = (density - peak, libm::exp(density - peak));
            let mean_and_root = conditional.mean_and_root()?;
            nodes.push(Node { variance: libm::exp(point), log_density, weight, mean_and_root });
        }
        let total: f64 = nodes.iter().map(|node| node.weight).sum();
        nodes.iter_mut().for_each(|node| node.weight /= total);
        Ok(Self { nodes, dimension: prior.dimension(), first, step })
    }

    /// Number of coefficients.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Mean and covariance of the coefficients, the variance integrated out.
    pub fn coefficients(&self) -> Gaussian {
        let size = self.dimension();
        let (mut mean, mut covariance) = (vec![0.0; size], vec![0.0; size * size]);
        for node in &self.nodes {
            let values = mean.iter_mut().zip(&node.mean_and_root);
            values.for_each(|(sum, value)| *sum += node.weight * value);
        }
        let mut add = |weight: f64, vector: &[f64]| {
            for (row, left) in covariance.chunks_exact_mut(size).zip(vector) {
                row.iter_mut().zip(vector).for_each(|(sum, right)| *sum += weight * left * right);
            }
        };
        for node in &self.nodes {
            let (centre, mut root) = node.mean_and_root.split_at(size);
            let away: Vec<f64> = centre.iter().zip(&mean).map(|(value, mean)| value - mean).collect();
            add(node.weight, &away);
            for length in 1..=size {
                let (column, rest) = root.split_at(length);
                add(node.weight, column);
                root = rest;
            }
        }
        Gaussian { mean, covariance }
    }

    /// Posterior expectation of a function of the residual variance.
    pub fn expect_variance(&self, function: impl Fn(f64) -> f64) -> f64 {
        self.nodes.iter().map(|node| node.weight * function(node.variance)).sum()
    }
}

/// The interval outside of which the density has dropped by [`DROP`], and its peak.
fn support(
    log_density: &impl Fn(f64) -> Result<f64, InferError>,
    start: f64,
) -> Result<(f64, f64, f64), InferError> {
    let (mut top, mut peak) = (start, log_density(start)?);
    // Uphill with shrinking steps: the scale of ln sigma^2 lies between 1e-3 (very much data) and 1 (the prior).
    let mut step = 1.0;
    while step > 1e-5 {
        let (left, right) = (log_density(top - step)?, log_density(top + step)?);
        if left > peak || right > peak {
            (top, peak) = if left > right { (top - step, left) } else { (top + step, right) };
        } else {
            step *= 0.25;
        }
    }
    let edge = |direction: f64| -> Result<f64, InferError> {
        let inside = |reach: f64| -> Result<bool, InferError> {
            Ok(peak - log_density(top + direction * reach)? < DROP)
        };
        let mut reach = 1e-4;
        while inside(reach)? {
            reach *= 2.0;
        }
        // Between half of it and all of it: a little nearer, so that no nodes are wasted.
        let mut part = 0.25 * reach;
        for _ in 0..3 {
            reach -= if inside(reach - part)? { 0.0 } else { part };
            part *= 0.5;
        }
        Ok(top + direction * reach)
    };
    Ok((edge(-1.0)?, edge(1.0)?, peak))
}
