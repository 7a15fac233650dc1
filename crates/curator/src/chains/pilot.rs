//! The way to the start: a few noisy gradient steps that all chains share.
//!
//! A private chain that starts far from the posterior spends its budget on the way: long proposals carry much noise and are
//! rejected. So a fifth of the budget goes into one ascent along noisy gradients, theta + gradient / (n stiffest), and all chains
//! start around the mean of the second half of its path. The error of that mean hardly depends on the number of steps: fewer steps have less
//! noise each. What the chains do with a start that was paid for is post-processing.

use organza_mcmc::{ChainRng, Stop};

use super::model::RecordModel;
use super::oracle::PrivateOracle;
use super::queries::Allowance;

/// A planned ascent.
#[derive(Debug, Clone, PartialEq)]
pub struct Pilot {
    /// What it asks, and what that may cost.
    pub allowance: Allowance,
    /// What the gradient is multiplied with.
    pub step_size: f64,
}

impl Pilot {
    /// The mean of the second half of the path from `start`. `rng` is read in a rehearsal only.
    pub fn climb<M: RecordModel>(
        &self,
        oracle: &PrivateOracle<M>,
        start: &[f64],
        rng: &mut ChainRng,
    ) -> Result<Vec<f64>, Stop> {
        let steps = self.allowance.steps();
        let mut theta = start.to_vec();
        let (mut gradient, mut mean) = (vec![0.0; theta.len()], vec![0.0; theta.len()]);
        let kept = steps - steps / 2;
        for step in 0..steps {
            oracle.permit()?.gradient(&theta, rng, &mut gradient)?;
            theta.iter_mut().zip(&gradient).for_each(|(theta, gradient)| *theta += self.step_size * gradient);
            if step >= steps / 2 {
                mean.iter_mut().zip(&theta).for_each(|(mean, theta)| *mean += theta / kept as f64);
            }
        }
        if mean.iter().all(|value| value.is_finite()) {
            return Ok(mean);
        }
        Err(Stop::numerical(
            "the way to the start left the range of numbers: use the setting `pilot_steps = 0`",
        ))
    }
}
