//! DP-SGLD: Langevin steps along noisy gradients of samples of the records, without an acceptance test.
//!
//! **Target.** Near the posterior, the nearer the smaller the step. **Exactness.** None: the step size is constant, clipping shifts the
//! drift, and the variance of sampling records is on top of the Langevin noise. **Cost.** One sampled gradient for each step.
//!
//! With the step e and the estimate g of the gradient, theta + e g + noise. Langevin dynamics needs noise of variance 2e
//! ([`Langevin::Right`]). The published chain has e ([`Langevin::Published`], \[RKH21\] section 4): with all records and no clipping it
//! settles on about half of the posterior's variance. The privacy noise in g is part of that noise; only what
//! is missing is added, from the chain's own generator. A noisier gradient than that leaves the chain too wide.

use organza_mcmc::{ChainRng, Kernel, Stop};
use rand::RngExt;
use rand_distr::StandardNormal;

use super::info::ChainInfo;
use super::start::Start;
use crate::chains::model::RecordModel;
use crate::chains::oracle::PrivateOracle;

/// How much noise a Langevin step has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Langevin {
    /// Variance 2e, as the dynamics need it.
    #[default]
    Right,
    /// Variance e, as in the published code.
    Published,
}

impl Langevin {
    /// Variance of the noise of a step of size `step_size`.
    pub fn variance(self, step_size: f64) -> f64 {
        match self {
            Langevin::Right => 2.0 * step_size,
            Langevin::Published => step_size,
        }
    }
}

/// Private stochastic-gradient Langevin dynamics. The oracle's step must ask for one gradient.
#[derive(Debug, Clone, PartialEq)]
pub struct DpSgld {
    /// Where chains start.
    pub start: Start,
    /// The step e.
    pub step_size: f64,
    /// How much noise a step has.
    pub noise: Langevin,
}

/// A chain of [`DpSgld`].
#[derive(Debug)]
pub struct LangevinState {
    theta: Vec<f64>,
    gradient: Vec<f64>,
}

impl<M: RecordModel> Kernel<PrivateOracle<M>> for DpSgld {
    type State = LangevinState;
    type Info = ChainInfo;

    fn init(&self, target: &PrivateOracle<M>, rng: &mut ChainRng) -> Result<LangevinState, Stop> {
        Ok(LangevinState { theta: self.start.draw(rng), gradient: vec![0.0; target.dimension()] })
    }

    fn step(
        &self,
        target: &PrivateOracle<M>,
        state: &mut LangevinState,
        rng: &mut ChainRng,
    ) -> Result<ChainInfo, Stop> {
        let clipped_gradients = target.permit()?.gradient(&state.theta, rng, &mut state.gradient)?;
        let missing =
            missing_sd(self.noise.variance(self.step_size), self.step_size * target.gradient_noise_sd());
        for (theta, gradient) in state.theta.iter_mut().zip(&state.gradient) {
            *theta += self.step_size * gradient;
            if missing > 0.0 {
                *theta += missing * rng.sample::<f64, _>(StandardNormal);
            }
        }
        Ok(ChainInfo { acceptance: 1.0, clipped_gradients, clipped_ratios: f64::NAN })
    }

    fn position<'s>(&self, state: &'s LangevinState) -> &'s [f64] {
        &state.theta
    }
}

/// Standard deviation of the noise that is missing when noise of standard deviation `present` is there.
pub(super) fn missing_sd(variance: f64, present: f64) -> f64 {
    (variance - present * present).max(0.0).sqrt()
}
