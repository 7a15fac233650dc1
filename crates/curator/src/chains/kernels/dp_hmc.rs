//! DP-HMC: Hamiltonian Monte Carlo whose gradients and acceptance test are noisy. \[RKH21\] Algorithm 1.
//!
//! **Target.** The posterior. **Exactness.** Exact for any noise and any clipping of gradients (a noisy leapfrog step with the momentum
//! negated is reversible: \[RKH21\] Lemma 3.1), as long as no ratio is clipped; the term -variance / 2 pays for the noise of
//! the test (\[RKH21\] Theorem 3.3). **Cost.** L + 1 gradients and one ratio for each step: \[RKH21\] Theorem 3.5.
//!
//! The paper prints the momentum update as p - s (g + xi) with g the gradient of +ln p; the sign here is p + s (g + xi). The
//! wrong sign leaves the target intact and kills the acceptance.
//!
//! | here | paper |
//! | --- | --- |
//! | `leapfrog_steps` | L |
//! | `step_size` times a Halton number | eta_i |
//! | `preconditioner` F | M^-1 = F F' |

use organza_mcmc::{ChainRng, Kernel, Stop};
use rand::RngExt;
use rand_distr::StandardNormal;

use super::halton::Halton;
use super::info::{ChainInfo, probability};
use super::preconditioner::Preconditioner;
use super::start::Start;
use crate::chains::model::RecordModel;
use crate::chains::oracle::{Permit, PrivateOracle};

/// Private Hamiltonian Monte Carlo. The oracle's step must ask for `leapfrog_steps + 1` gradients and a ratio.
#[derive(Debug, Clone, PartialEq)]
pub struct DpHmc {
    /// Where chains start.
    pub start: Start,
    /// The longest step.
    pub step_size: f64,
    /// Leapfrog steps in a proposal.
    pub leapfrog_steps: usize,
    /// The shortest step as a part of the longest. The paper has 0; a step near 0 spends the budget on staying.
    pub shortest: f64,
    /// The mass matrix.
    pub preconditioner: Preconditioner,
}

/// A chain of [`DpHmc`].
#[derive(Debug)]
pub struct HmcState {
    theta: Vec<f64>,
    proposal: Vec<f64>,
    momentum: Vec<f64>,
    gradient: Vec<f64>,
    direction: Vec<f64>,
    halton: Halton,
}

impl DpHmc {
    /// Adds `size` times the noisy gradient at the proposal to the momentum.
    fn push<M: RecordModel>(
        &self,
        permit: &mut Permit<'_, M>,
        state: &mut HmcState,
        size: f64,
        rng: &mut ChainRng,
    ) -> Result<f64, Stop> {
        let HmcState { proposal, momentum, gradient, direction, .. } = state;
        let clipped = permit.gradient(proposal, rng, gradient)?;
        self.preconditioner.backward(gradient, direction);
        momentum.iter_mut().zip(direction).for_each(|(momentum, push)| *momentum += size * *push);
        Ok(clipped)
    }

    fn drift(&self, state: &mut HmcState, size: f64) {
        self.preconditioner.forward(&state.momentum, &mut state.direction);
        let moves = state.proposal.iter_mut().zip(&state.direction);
        moves.for_each(|(theta, velocity)| *theta += size * velocity);
    }
}

impl<M: RecordModel> Kernel<PrivateOracle<M>> for DpHmc {
    type State = HmcState;
    type Info = ChainInfo;

    fn init(&self, target: &PrivateOracle<M>, rng: &mut ChainRng) -> Result<HmcState, Stop> {
        let room = || vec![0.0; target.dimension()];
        let halton = Halton::new(rng);
        Ok(HmcState {
            theta: self.start.draw(rng),
            proposal: room(),
            momentum: room(),
            gradient: room(),
            direction: room(),
            halton,
        })
    }

    fn step(
        &self,
        target: &PrivateOracle<M>,
        state: &mut HmcState,
        rng: &mut ChainRng,
    ) -> Result<ChainInfo, Stop> {
        let mut permit = target.permit()?;
        let size = self.step_size * (self.shortest + (1.0 - self.shortest) * state.halton.next());
        state.proposal.copy_from_slice(&state.theta);
        state.momentum.iter_mut().for_each(|momentum| *momentum = rng.sample(StandardNormal));
        let before = kinetic(&state.momentum);
        let mut clipped = self.push(&mut permit, state, 0.5 * size, rng)?;
        for leap in 1..=self.leapfrog_steps {
            self.drift(state, size);
            let last = leap == self.leapfrog_steps;
            clipped += self.push(&mut permit, state, if last { 0.5 * size } else { size }, rng)?;
        }
        let ratio = permit.log_ratio(&state.theta, &state.proposal, rng)?;
        // [RKH21] Theorem 3.3
        let acceptance = probability(ratio.value + before - kinetic(&state.momentum) - 0.5 * ratio.variance);
        if rng.random::<f64>() < acceptance {
            std::mem::swap(&mut state.theta, &mut state.proposal);
        }
        let clipped_gradients = clipped / (self.leapfrog_steps + 1) as f64;
        Ok(ChainInfo { acceptance, clipped_gradients, clipped_ratios: ratio.clipped })
    }

    fn position<'s>(&self, state: &'s HmcState) -> &'s [f64] {
        &state.theta
    }
}

fn kinetic(momentum: &[f64]) -> f64 {
    0.5 * momentum.iter().map(|value| value * value).sum::<f64>()
}
