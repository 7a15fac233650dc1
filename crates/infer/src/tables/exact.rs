//! Independent draws from the posterior of one party's counts.
//!
//! **Target.** The probabilities of a [`CountModel`] with one party, and its number of records where that is not public.
//! **Exactness.** Exact: counts are drawn from their law, known to 1e-12 (see `circuit`), and probabilities given counts are Dirichlet.
//! There is no chain: every draw is independent. **Cost.** Preparation once; a draw costs O(cells times window).

use organza_mcmc::{ChainRng, Kernel, Stop};

use super::circuit::Circuit;
use super::model::CountModel;
use crate::InferError;

/// The posterior of one party's counts, prepared for draws.
#[derive(Debug, Clone)]
pub struct ExactCounts {
    model: CountModel,
    circuit: Circuit,
}

impl ExactCounts {
    /// Sums over all counts.
    pub fn new(model: CountModel) -> Result<Self, InferError> {
        if model.parties.len() != 1 {
            let reason = format!("exact draws are for one party, not for {}", model.parties.len());
            return Err(InferError::Setting { field: "sampler", reason });
        }
        let circuit = model.circuit(0, &vec![0; model.shape.groups().len()])?;
        Ok(Self { model, circuit })
    }

    /// Names of the values of a draw.
    pub fn names(&self) -> &[String] {
        self.model.names()
    }
}

/// The kernel of independent draws; the position is that of [`CountModel::names`].
#[derive(Debug, Clone, Copy, Default)]
pub struct IndependentCounts;

/// Memory of a draw.
#[derive(Debug, Clone)]
pub struct IndependentCountsState {
    counts: Vec<usize>,
    position: Vec<f64>,
}

impl Kernel<ExactCounts> for IndependentCounts {
    type State = IndependentCountsState;
    type Info = ();

    fn init(&self, target: &ExactCounts, rng: &mut ChainRng) -> Result<IndependentCountsState, Stop> {
        let counts = vec![0; target.model.shape.groups().len()];
        let mut state = IndependentCountsState { counts, position: vec![0.0; target.model.names.len()] };
        self.step(target, &mut state, rng)?;
        Ok(state)
    }

    fn step(
        &self,
        target: &ExactCounts,
        state: &mut IndependentCountsState,
        rng: &mut ChainRng,
    ) -> Result<(), Stop> {
        target.circuit.draw(&target.model.shape, rng, &mut state.counts);
        target.model.write_position(rng, &state.counts, state.counts[..1].iter(), &mut state.position);
        Ok(())
    }

    fn position<'s>(&self, state: &'s IndependentCountsState) -> &'s [f64] {
        &state.position
    }
}
