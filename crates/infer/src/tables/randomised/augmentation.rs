//! Data augmentation for randomised answers, on counts instead of records.
//!
//! **Target.** That of [`RandomisedAnswers`]. **Exactness.** Exact in the limit of many draws: the records of every joint answer are divided
//! among the cells that may have given it (multinomial), then theta is drawn given the true counts (Dirichlet). \[JAGR22\] Algorithm 1
//! does the same record by record. It mixes slowly where answers are mostly random: `AnswerDensity` has no latent counts.
//! **Cost.** O(cells squared times answers) for every party, however many records there are.

use organza_mcmc::{ChainRng, Kernel, Stop};
use rand_distr::{Binomial, Distribution};

use super::{Party, RandomisedAnswers};
use crate::random::gamma;

/// The kernel; the position is that of [`RandomisedAnswers::names`].
#[derive(Debug, Clone, Copy, Default)]
pub struct AnswerAugmentation;

/// What the next step needs.
#[derive(Debug, Clone)]
pub struct AnswerAugmentationState {
    shapes: Vec<f64>,
    weights: Vec<f64>,
    theta: Vec<f64>,
}

impl AnswerAugmentationState {
    fn draw_probabilities(&mut self, rng: &mut ChainRng) {
        self.theta.iter_mut().zip(&self.shapes).for_each(|(value, shape)| *value = gamma(rng, *shape));
        let total: f64 = self.theta.iter().sum();
        self.theta.iter_mut().for_each(|value| *value /= total);
    }

    /// Divides the records of one joint answer among the cells.
    fn divide(&mut self, rng: &mut ChainRng, party: &Party, answer: usize) -> Result<(), Stop> {
        for (cell, (weight, theta)) in self.weights.iter_mut().zip(&self.theta).enumerate() {
            let channels = party.channels.iter().map(|channel| {
                let same = channel.answers[cell] == channel.answers[answer];
                if same { channel.truth } else { channel.other }
            });
            *weight = theta * channels.product::<f64>();
        }
        let (mut left, mut total) = (party.counts[answer] as u64, self.weights.iter().sum::<f64>());
        for (shape, weight) in self.shapes.iter_mut().zip(&self.weights) {
            if left == 0 {
                break;
            }
            let share = if total > *weight { weight / total } else { 1.0 };
            let law = Binomial::new(left, share).map_err(|error| {
                Stop::numerical(format!("answer {answer}: no cell could have given it ({error})"))
            })?;
            let count = law.sample(rng);
            *shape += count as f64;
            left -= count;
            total -= weight;
        }
        Ok(())
    }
}

impl Kernel<RandomisedAnswers> for AnswerAugmentation {
    type State = AnswerAugmentationState;
    type Info = ();

    fn init(&self, target: &RandomisedAnswers, rng: &mut ChainRng) -> Result<AnswerAugmentationState, Stop> {
        let size = target.concentrations.len();
        let shapes = target.concentrations.iter().map(|a| a + 1.0).collect();
        let mut state = AnswerAugmentationState { shapes, weights: vec![0.0; size], theta: vec![0.0; size] };
        state.draw_probabilities(rng);
        Ok(state)
    }

    fn step(
        &self,
        target: &RandomisedAnswers,
        state: &mut AnswerAugmentationState,
        rng: &mut ChainRng,
    ) -> Result<(), Stop> {
        state.shapes.copy_from_slice(&target.concentrations);
        for party in &target.parties {
            for answer in (0..party.counts.len()).filter(|answer| party.counts[*answer] > 0.0) {
                state.divide(rng, party, answer)?;
            }
        }
        state.draw_probabilities(rng);
        Ok(())
    }

    fn position<'s>(&self, state: &'s AnswerAugmentationState) -> &'s [f64] {
        &state.theta
    }
}
