//! What is asked of private chains: public knowledge only.

use super::kernels::{Langevin, Walk};
use super::queries::Budget;
use super::words::ChainMethod;
use crate::CuratorError;

/// A method, a budget and whatever is chosen by hand.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainRequest {
    /// The method.
    pub method: ChainMethod,
    /// Number of records, which is public.
    pub records: u64,
    /// The limit of the loss, for everything together.
    pub budget: Budget,
    /// Number of chains.
    pub chains: usize,
    /// Seed of proposals and starts. Noise never has one.
    pub seed: u64,
    /// Threads; 0 is one for each core.
    pub threads: usize,
    /// What is chosen by hand.
    pub tuning: Tuning,
}

/// Choices by hand; what is left out follows from the budget.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tuning {
    /// Steps of each chain, warm-up included.
    pub steps: Option<usize>,
    /// Steps of each chain that are not kept. They are paid for.
    pub warmup: Option<usize>,
    /// Noisy gradient steps to the start of all chains; 0 starts at a public guess.
    pub pilot_steps: Option<usize>,
    /// Leapfrog steps of a proposal.
    pub leapfrog_steps: Option<usize>,
    /// Step size.
    pub step_size: Option<f64>,
    /// Clip bound of gradients.
    pub gradient_clip: Option<f64>,
    /// Clip bound of ratios over the distance.
    pub ratio_clip: Option<f64>,
    /// Probability with which a record is in a step's sample.
    pub rate: Option<f64>,
    /// Friction to start from.
    pub friction: Option<f64>,
    /// How much noise a Langevin step has.
    pub langevin: Option<Langevin>,
    /// How a random walk proposes.
    pub walk: Option<Walk>,
}

/// More steps of any kind than a budget buys or a machine makes.
const MOST_STEPS: usize = 100_000_000;

impl Tuning {
    /// Refuses numbers that make no sense, and choices that the method does not have.
    pub(super) fn check(&self, method: ChainMethod) -> Result<(), CuratorError> {
        use ChainMethod::{DpHmc, DpPenalty, DpSgld, DpSgnht};
        let (with_gradients, sampled) = ([DpHmc, DpSgld, DpSgnht], [DpSgld, DpSgnht]);
        let belongs: [(&'static str, bool, &[ChainMethod]); 8] = [
            ("leapfrog_steps", self.leapfrog_steps.is_some(), &[DpHmc]),
            ("gradient_clip", self.gradient_clip.is_some(), &with_gradients),
            ("ratio_clip", self.ratio_clip.is_some(), &[DpHmc, DpPenalty]),
            ("rate", self.rate.is_some(), &sampled),
            ("friction", self.friction.is_some(), &[DpSgnht]),
            ("langevin", self.langevin.is_some(), &[DpSgld]),
            ("walk", self.walk.is_some(), &[DpPenalty]),
            ("pilot_steps", self.pilot_steps.is_some_and(|steps| steps > 0), &[DpHmc, DpPenalty]),
        ];
        for (field, given, methods) in belongs {
            if given && !methods.contains(&method) {
                return Err(CuratorError::setting(field, format!("{method} has no such thing")));
            }
        }
        for (field, value) in [("step_size", self.step_size), ("friction", self.friction)] {
            if value.is_some_and(|value| !(value.is_finite() && value > 0.0)) {
                return Err(CuratorError::setting(field, "must be a positive number"));
            }
        }
        let steps = [
            ("steps", self.steps),
            ("warmup", self.warmup),
            ("pilot_steps", self.pilot_steps),
            ("leapfrog_steps", self.leapfrog_steps),
        ];
        if let Some((field, _)) =
            steps.iter().find(|(_, steps)| steps.is_some_and(|steps| steps > MOST_STEPS))
        {
            return Err(CuratorError::setting(field, format!("must be at most {MOST_STEPS}")));
        }
        if self.leapfrog_steps == Some(0) {
            return Err(CuratorError::setting("leapfrog_steps", "must be at least 1"));
        }
        Ok(())
    }
}
