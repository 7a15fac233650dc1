//! `fixed-gram`: coefficients and residual variance, the variance by quadrature.
//!
//! **Target.** (theta, sigma^2) given z-hat under the model of `fast` with sigma^2 ~ IG(a, b): the target of \[AYB23\] Algorithm 2.
//! **Exactness.** theta is integrated out in closed form, so ln sigma^2 is the only unknown; its density is smooth and
//! decays on both sides, where the trapezium rule converges geometrically: moments are exact to rounding, without a
//! chain. The noise in S-hat is ignored, as in the paper. **Cost.** O(J d^3) per node, about a hundred nodes.

use crate::fast::Conditional;
use crate::{Evidence, Gaussian, InferError, Prior};

/// The posterior as a mixture over nodes of ln sigma^2.
#[derive(Debug, Clone)]
pub struct FixedGram {
    nodes: Vec<Node>,
}

/// One node of the quadrature.
#[derive(Debug, Clone)]
struct Node {
    variance: f64,
    weight: f64,
    coefficients: Gaussian,
}

/// The density beyond a drop of this much is below the rounding of its peak.
const DROP: f64 = 38.0;
/// Nodes over the support.
const NODES: usize = 96;

impl FixedGram {
    /// Computes the posterior, in normalised units.
    pub fn new(evidence: &Evidence, prior: &Prior) -> Result<Self, InferError> {
        let at = |point: f64| -> Result<(Conditional, f64), InferError> {
            let conditional = Conditional::new(evidence, prior, libm::exp(point))?;
            let density = conditional.log_marginal + prior.log_density_of_log_variance(point);
            Ok((conditional, density))
        };
        let (lower, upper, peak) = support(&|point| Ok(at(point)?.1), prior.log_variance_mode())?;
        let step = (upper - lower) / (NODES - 1) as f64;
        let mut nodes = Vec::with_capacity(NODES);
        for index in 0..NODES {
            let point = lower + step * index as f64;
            let (conditional, density) = at(point)?;
            let (weight, coefficients) = (libm::exp(density - peak), conditional.posterior());
            nodes.push(Node { variance: libm::exp(point), weight, coefficients });
        }
        let total: f64 = nodes.iter().map(|node| node.weight).sum();
        nodes.iter_mut().for_each(|node| node.weight /= total);
        Ok(Self { nodes })
    }

    /// Mean and covariance of the coefficients, the variance integrated out.
    pub fn coefficients(&self) -> Gaussian {
        let size = self.nodes[0].coefficients.mean.len();
        let mut mean = vec![0.0; size];
        for node in &self.nodes {
            mean.iter_mut().zip(&node.coefficients.mean).for_each(|(sum, value)| *sum += node.weight * value);
        }
        let mut covariance = vec![0.0; size * size];
        for Node { weight, coefficients, .. } in &self.nodes {
            for (k, entry) in covariance.iter_mut().enumerate() {
                let (i, j) = (k / size, k % size);
                let spread = (coefficients.mean[i] - mean[i]) * (coefficients.mean[j] - mean[j]);
                *entry += weight * (coefficients.covariance[k] + spread);
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
        let mut reach = 1e-4;
        while peak - log_density(top + direction * reach)? < DROP {
            reach *= 1.25;
        }
        Ok(top + direction * reach)
    };
    Ok((edge(-1.0)?, edge(1.0)?, peak))
}
