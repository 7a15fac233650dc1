//! Several parties with the same probabilities: the tables of one party at a time, given those of the others.
//!
//! **Target.** That of a [`CountModel`] with any number of parties. **Exactness.** Exact in the limit of many draws. The probabilities
//! are integrated out, so the counts of the other parties only add to the concentrations, and the whole table of a party is drawn
//! from its exact conditional law. Draws of probabilities given counts and counts given probabilities would mix slowly under
//! much noise, because each of the two hardly moves given the other. **Cost.** One preparation and one draw of the circuit for every
//! party in every step.

use organza_mcmc::{ChainRng, Kernel, Stop};

use super::circuit::Circuit;
use super::model::CountModel;

/// The kernel; the position is that of [`CountModel::names`].
#[derive(Debug, Clone, Copy, Default)]
pub struct CollapsedGibbs;

/// What the next step needs.
#[derive(Debug, Clone)]
pub struct CollapsedGibbsState {
    circuits: Vec<Circuit>,
    /// Counts of the groups of every party, and of all together.
    counts: Vec<Vec<usize>>,
    pooled: Vec<usize>,
    position: Vec<f64>,
}

impl Kernel<CountModel> for CollapsedGibbs {
    type State = CollapsedGibbsState;
    type Info = ();

    fn init(&self, target: &CountModel, rng: &mut ChainRng) -> Result<CollapsedGibbsState, Stop> {
        let (groups, parties) = (target.shape.groups().len(), target.parties.len());
        let mut state = CollapsedGibbsState {
            circuits: vec![Circuit::new(&target.shape); parties],
            counts: vec![vec![0; groups]; parties],
            pooled: vec![0; groups],
            position: vec![0.0; target.names.len()],
        };
        // Each party given those before it: near the posterior, and different in every chain.
        self.step(target, &mut state, rng)?;
        Ok(state)
    }

    fn step(
        &self,
        target: &CountModel,
        state: &mut CollapsedGibbsState,
        rng: &mut ChainRng,
    ) -> Result<(), Stop> {
        let parties = state.circuits.iter_mut().zip(&mut state.counts).zip(&target.parties);
        for ((circuit, counts), party) in parties {
            state.pooled.iter_mut().zip(counts.iter()).for_each(|(sum, count)| *sum -= count);
            circuit.prepare(&target.shape, party, &state.pooled).map_err(Stop::numerical)?;
            circuit.draw(&target.shape, rng, counts);
            state.pooled.iter_mut().zip(counts.iter()).for_each(|(sum, count)| *sum += count);
        }
        let roots = state.counts.iter().map(|counts| &counts[0]);
        target.write_position(rng, &state.pooled, roots, &mut state.position);
        Ok(())
    }

    fn position<'s>(&self, state: &'s CollapsedGibbsState) -> &'s [f64] {
        &state.position
    }
}
