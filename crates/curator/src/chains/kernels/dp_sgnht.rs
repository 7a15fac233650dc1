//! DP-SGNHT: a thermostat that absorbs unknown noise in the gradients (Ding et al. 2014), without an acceptance test.
//!
//! **Target.** Near the posterior. **Exactness.** None, as with [`DpSgld`](super::DpSgld), but noise of the same variance in all coordinates,
//! from privacy or from sampling records, is absorbed by the friction, which adapts. **Cost.** One sampled gradient for each step.
//!
//! Explicit Euler steps of size h with the old momentum, as in the published code (\[RKH21\] section 4):
//! `p' = p - h xi p + h g + noise`, `theta' = theta + h p`, `xi' = xi + h (|p|^2 / d - 1)`, with noise of variance 2 A h. The privacy
//! noise in g is part of that noise; only what is missing is added.

use organza_mcmc::{ChainRng, Kernel, Stop};
use rand::RngExt;
use rand_distr::StandardNormal;

use super::dp_sgld::missing_sd;
use super::info::ChainInfo;
use super::start::Start;
use crate::chains::model::RecordModel;
use crate::chains::oracle::PrivateOracle;

/// Private stochastic-gradient Nosé-Hoover thermostat. The oracle's step must ask for one gradient.
#[derive(Debug, Clone, PartialEq)]
pub struct DpSgnht {
    /// Where chains start.
    pub start: Start,
    /// The step h.
    pub step_size: f64,
    /// A: the friction to start from, and the noise that goes with it.
    pub friction: f64,
}

/// A chain of [`DpSgnht`].
#[derive(Debug)]
pub struct ThermostatState {
    theta: Vec<f64>,
    momentum: Vec<f64>,
    gradient: Vec<f64>,
    friction: f64,
}

impl<M: RecordModel> Kernel<PrivateOracle<M>> for DpSgnht {
    type State = ThermostatState;
    type Info = ChainInfo;

    fn init(&self, target: &PrivateOracle<M>, rng: &mut ChainRng) -> Result<ThermostatState, Stop> {
        let momentum = (0..target.dimension()).map(|_| rng.sample(StandardNormal)).collect();
        let gradient = vec![0.0; target.dimension()];
        Ok(ThermostatState { theta: self.start.draw(rng), momentum, gradient, friction: self.friction })
    }

    fn step(
        &self,
        target: &PrivateOracle<M>,
        state: &mut ThermostatState,
        rng: &mut ChainRng,
    ) -> Result<ChainInfo, Stop> {
        let ThermostatState { theta, momentum, gradient, friction } = state;
        let clipped_gradients = target.permit()?.gradient(theta, rng, gradient)?;
        let h = self.step_size;
        let missing = missing_sd(2.0 * self.friction * h, h * target.gradient_noise_sd());
        let heat = momentum.iter().map(|p| p * p).sum::<f64>() / theta.len() as f64;
        for ((theta, p), gradient) in theta.iter_mut().zip(&mut *momentum).zip(&*gradient) {
            *theta += h * *p;
            *p += h * (gradient - *friction * *p);
            if missing > 0.0 {
                *p += missing * rng.sample::<f64, _>(StandardNormal);
            }
        }
        *friction += h * (heat - 1.0);
        Ok(ChainInfo { acceptance: 1.0, clipped_gradients, clipped_ratios: f64::NAN })
    }

    fn position<'s>(&self, state: &'s ThermostatState) -> &'s [f64] {
        &state.theta
    }
}
