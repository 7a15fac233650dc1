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
use crate::{Evidence, Gaussian, InferError, Prior};

/// The posterior as a function of ln sigma^2 on equally spaced nodes.
#[derive(Debug, Clone)]
pub struct FixedGram {
    nodes: Vec<Node>,
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
    conditional: Conditional,
}

/// The density beyond a drop of this much is below the rounding of its peak.
const DROP: f64 = 38.0;
/// Nodes over the support.
const NODES: usize = 96;

impl FixedGram {
    /// Computes the posterior, in normalised units.
    pub fn new(evidence: &Evidence, prior: &Prior) -> Result<Self, InferError> {
        prior.check(evidence)?;
        Self::of_spectra(&Spectrum::of(evidence)?, prior)
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
            nodes.push(Node { variance: libm::exp(point), log_density, weight, conditional });
        }
        let total: f64 = nodes.iter().map(|node| node.weight).sum();
        nodes.iter_mut().for_each(|node| node.weight /= total);
        Ok(Self { nodes, first, step })
    }

    /// Number of coefficients.
    pub fn dimension(&self) -> usize {
        self.nodes[0].conditional.shift.len()
    }

    /// Mean and covariance of the coefficients, the variance integrated out.
    pub fn coefficients(&self) -> Result<Gaussian, InferError> {
        let size = self.dimension();
        let (mut mean, mut covariance) = (vec![0.0; size], vec![0.0; size * size]);
        let parts: Vec<Gaussian> =
            self.nodes.iter().map(|node| node.conditional.posterior()).collect::<Result<_, _>>()?;
        for (node, part) in self.nodes.iter().zip(&parts) {
            mean.iter_mut().zip(&part.mean).for_each(|(sum, value)| *sum += node.weight * value);
        }
        for (node, part) in self.nodes.iter().zip(&parts) {
            for (k, entry) in covariance.iter_mut().enumerate() {
                let (i, j) = (k / size, k % size);
                let spread = (part.mean[i] - mean[i]) * (part.mean[j] - mean[j]);
                *entry += node.weight * (part.covariance[k] + spread);
            }
        }
        Ok(Gaussian { mean, covariance })
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
        let mut reach = 1e-4;
        while peak - log_density(top + direction * reach)? < DROP {
            reach *= 1.25;
        }
        Ok(top + direction * reach)
    };
    Ok((edge(-1.0)?, edge(1.0)?, peak))
}
