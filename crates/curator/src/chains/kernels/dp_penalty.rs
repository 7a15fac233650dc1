//! DP-penalty: a random walk whose acceptance test is noisy (Yıldırım and Ermiş 2019; Ceperley and Dewing 1999).
//!
//! **Target.** The posterior. **Exactness.** Exact as long as no ratio is clipped: with Gaussian noise of variance v on the log ratio, accepting
//! with min(1, exp(noisy ratio - v / 2)) satisfies detailed balance on average over the noise. **Cost.** One ratio for each step.
//!
//! | walk | proposal |
//! | --- | --- |
//! | `all` | theta + step F z, z ~ N(0, I) |
//! | `one-component` | the same for one coordinate, chosen at random: its distance, and with it the noise, is smaller |
//! | `guided` | one coordinate, in a direction that is kept until a rejection turns it (Gustafson 1998) |

use organza_mcmc::{ChainRng, Kernel, Stop};
use rand::RngExt;
use rand_distr::StandardNormal;

use super::info::{ChainInfo, probability};
use super::preconditioner::Preconditioner;
use super::start::Start;
use crate::chains::model::RecordModel;
use crate::chains::oracle::PrivateOracle;

/// How proposals are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Walk {
    /// All coordinates at once.
    #[default]
    All,
    /// One coordinate at a time.
    OneComponent,
    /// One coordinate at a time, onwards until a rejection.
    Guided,
}

/// Private random walk. The oracle's step must ask for a ratio.
#[derive(Debug, Clone, PartialEq)]
pub struct DpPenalty {
    /// Where chains start.
    pub start: Start,
    /// Standard deviation of a move in each coordinate, before the preconditioner.
    pub step_size: f64,
    /// How proposals are made.
    pub walk: Walk,
    /// The shape of the steps. Walks of one component take its directions one at a time.
    pub preconditioner: Preconditioner,
}

/// A chain of [`DpPenalty`].
#[derive(Debug)]
pub struct PenaltyState {
    theta: Vec<f64>,
    proposal: Vec<f64>,
    moves: Vec<f64>,
    directions: Vec<f64>,
}

impl DpPenalty {
    /// Writes the proposal; returns the component that moves, if it is only one.
    fn propose(&self, state: &mut PenaltyState, rng: &mut ChainRng) -> Option<usize> {
        let PenaltyState { theta, proposal, moves, directions } = state;
        let mut component = None;
        if self.walk == Walk::All {
            moves.iter_mut().for_each(|step| *step = self.step_size * rng.sample::<f64, _>(StandardNormal));
        } else {
            let chosen = rng.random_range(0..theta.len());
            let size = self.step_size * rng.sample::<f64, _>(StandardNormal);
            moves.fill(0.0);
            moves[chosen] = if self.walk == Walk::Guided { directions[chosen] * size.abs() } else { size };
            component = Some(chosen);
        }
        self.preconditioner.forward(moves, proposal);
        proposal.iter_mut().zip(theta).for_each(|(proposal, theta)| *proposal += *theta);
        component
    }
}

impl<M: RecordModel> Kernel<PrivateOracle<M>> for DpPenalty {
    type State = PenaltyState;
    type Info = ChainInfo;

    fn init(&self, target: &PrivateOracle<M>, rng: &mut ChainRng) -> Result<PenaltyState, Stop> {
        let room = || vec![0.0; target.dimension()];
        let mut directions = room();
        directions.iter_mut().for_each(|direction| *direction = if rng.random() { 1.0 } else { -1.0 });
        Ok(PenaltyState { theta: self.start.draw(rng), proposal: room(), moves: room(), directions })
    }

    fn step(
        &self,
        target: &PrivateOracle<M>,
        state: &mut PenaltyState,
        rng: &mut ChainRng,
    ) -> Result<ChainInfo, Stop> {
        let mut permit = target.permit()?;
        let component = self.propose(state, rng);
        let ratio = permit.log_ratio(&state.theta, &state.proposal, rng)?;
        let acceptance = probability(ratio.value - 0.5 * ratio.variance);
        if rng.random::<f64>() < acceptance {
            std::mem::swap(&mut state.theta, &mut state.proposal);
        } else if let Some(component) = component {
            state.directions[component] = -state.directions[component];
        }
        Ok(ChainInfo { acceptance, clipped_gradients: f64::NAN, clipped_ratios: ratio.clipped })
    }

    fn position<'s>(&self, state: &'s PenaltyState) -> &'s [f64] {
        &state.theta
    }
}
