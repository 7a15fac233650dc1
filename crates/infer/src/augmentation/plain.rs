//! The paper's chain.

use organza_mcmc::{ChainRng, Kernel, Stop};

use super::{AugmentationInfo, AugmentationState, Augmented, Generative, RecordAdditive};

/// Parameters given records, then each record by an independence proposal from the model: \[JAGR22\] Algorithm 1, nothing else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Plain;

impl<G: Generative, M: RecordAdditive> Kernel<Augmented<G, M>> for Plain {
    type State = AugmentationState<G::Parameters>;
    type Info = AugmentationInfo;

    fn init(&self, target: &Augmented<G, M>, rng: &mut ChainRng) -> Result<Self::State, Stop> {
        AugmentationState::start(target, rng)
    }

    fn step(
        &self,
        target: &Augmented<G, M>,
        state: &mut Self::State,
        rng: &mut ChainRng,
    ) -> Result<AugmentationInfo, Stop> {
        let sweep = state.sweep(target, rng)?;
        target.model.write(&state.parameters, &mut state.position);
        Ok(AugmentationInfo::of(sweep, state.extreme_rates()))
    }

    fn position<'s>(&self, state: &'s Self::State) -> &'s [f64] {
        &state.position
    }
}
