//! The default chain: the paper's sweep, then moves of the parameters with all records in tow.
//!
//! **Target.** That of [`Plain`](super::Plain). **Exactness.** The same; proposals are learnt in warm-up and then kept. **Cost.** Six
//! passes over the records in addition to the sweep, each a small part of it.
//!
//! Given the records, the parameters are known to about 1/sqrt(n), however wide their posterior is; they move by steps of that size and no
//! sweep can do better. Given the noise behind the records instead (whitened features, standardised residuals) they are as
//! uncertain as the release leaves them. Alternating between both mixes at least as well as the better of the two. Where noise is so
//! small that records themselves are stuck, exchanges between two of them follow the sweep; warm-up decides.

use organza_mcmc::{ChainRng, Kernel, Stop};

use super::exchange::Exchange;
use super::info::MOVES;
use super::shape::BlockWalk;
use super::{
    AugmentationInfo, AugmentationState, Augmented, Interweave, PartySum, RecordAdditive, RecordDensity,
};
use crate::adaptation::StepSize;
use crate::random::accept;

/// \[JAGR22\] Algorithm 1 with interweaving.
#[derive(Debug, Clone, PartialEq)]
pub struct Interweaving {
    blocks: Vec<BlockWalk>,
    /// Size of exchanges between records, in units of the model's spreads.
    exchange: StepSize,
    /// Mean acceptance of records in warm-up, the past fading away.
    acceptance: f64,
}

/// Exchanges between records are offered where proposals of single records are accepted more seldom than this.
const SELDOM: f64 = 0.4;
/// The rate of acceptance that exchanges approach.
const EXCHANGE_ACCEPTANCE: f64 = 0.35;
/// Share of the last step in the fading mean.
const FADING: f64 = 0.05;

/// Latent records and parameters, and memory for the next move of them all.
#[derive(Debug, Clone)]
pub struct InterweavingState<P> {
    pub(super) latent: AugmentationState<P>,
    log_prior: f64,
    pub(super) coordinates: Vec<f64>,
    /// The block that moves next.
    next: usize,
    trial: Trial<P>,
    exchange: Exchange,
}

/// Where a move would lead.
#[derive(Debug, Clone)]
struct Trial<P> {
    parameters: P,
    coordinates: Vec<f64>,
    sums: Vec<PartySum>,
    record: Vec<f64>,
    contribution: Vec<f64>,
}

impl Interweaving {
    /// The kernel for this target, its proposals not yet learnt.
    pub fn new<G: Interweave, M: RecordAdditive>(target: &Augmented<G, M>) -> Self {
        let blocks = target.model.blocks().into_iter().map(BlockWalk::new).collect();
        Self { blocks, exchange: StepSize::new(0.5, EXCHANGE_ACCEPTANCE), acceptance: 1.0 }
    }

    /// The same with exchanges in every step, whatever warm-up says.
    #[cfg(test)]
    pub(super) fn always_exchanging(self) -> Self {
        Self { acceptance: -1e300, ..self }
    }

    /// Moves one block; gives the probability with which it was accepted.
    fn attempt<G: Interweave, M: RecordAdditive>(
        &self,
        target: &Augmented<G, M>,
        state: &mut InterweavingState<G::Parameters>,
        block: &BlockWalk,
        rng: &mut ChainRng,
    ) -> Result<f64, Stop> {
        let trial = &mut state.trial;
        trial.coordinates.copy_from_slice(&state.coordinates);
        block.propose(&mut trial.coordinates, rng);
        if !target.model.move_to(&trial.coordinates, &state.latent.parameters, &mut trial.parameters) {
            return Ok(0.0);
        }
        let log_prior = target.model.log_prior(&trial.parameters);
        let ratio = log_prior - state.log_prior + trial.visit(target, &state.latent);
        if ratio.is_nan() {
            return Err(Stop::numerical("the density of a move of all records is not a number"));
        }
        if accept(rng, ratio) {
            state.take(target, log_prior);
        }
        Ok(libm::exp(ratio.min(0.0)))
    }
}

impl<P> Trial<P> {
    /// The sums over the moved records; gives the log ratio of the densities of all releases.
    fn visit<G, M>(&mut self, target: &Augmented<G, M>, latent: &AugmentationState<P>) -> f64
    where
        G: Interweave<Parameters = P>,
        M: RecordAdditive,
    {
        let (mut start, width) = (0, target.model.width());
        let mut ratio = 0.0;
        for ((party, moved), before) in target.parties.iter().zip(&mut self.sums).zip(&latent.sums) {
            let end = start + party.records() * width;
            let contribution = &mut self.contribution[..party.size()];
            moved.sum.fill(0.0);
            for record in latent.records[start..end].chunks_exact(width) {
                target.model.carry(&self.parameters, record, &mut self.record);
                party.contribution(&self.record, contribution);
                moved.sum.iter_mut().zip(contribution.iter()).for_each(|(sum, value)| *sum += value);
            }
            moved.log_density = party.log_density(&moved.sum);
            ratio += moved.log_density - before.log_density;
            start = end;
        }
        ratio
    }
}

impl<P> InterweavingState<P> {
    /// Goes where the trial was.
    fn take<G: Interweave<Parameters = P>, M>(&mut self, target: &Augmented<G, M>, log_prior: f64) {
        let (latent, trial) = (&mut self.latent, &mut self.trial);
        for record in latent.records.chunks_exact_mut(target.model.width()) {
            target.model.carry(&trial.parameters, record, &mut trial.record);
            record.copy_from_slice(&trial.record);
        }
        std::mem::swap(&mut latent.sums, &mut trial.sums);
        std::mem::swap(&mut latent.parameters, &mut trial.parameters);
        std::mem::swap(&mut self.coordinates, &mut trial.coordinates);
        self.log_prior = log_prior;
    }

    /// The latent records and the parameters.
    pub fn latent(&self) -> &AugmentationState<P> {
        &self.latent
    }
}

impl<G: Interweave + RecordDensity, M: RecordAdditive> Kernel<Augmented<G, M>> for Interweaving {
    type State = InterweavingState<G::Parameters>;
    type Info = AugmentationInfo;

    fn init(&self, target: &Augmented<G, M>, rng: &mut ChainRng) -> Result<Self::State, Stop> {
        let latent = AugmentationState::start(target, rng)?;
        let coordinates = vec![0.0; target.model.coordinates()];
        let size = target.parties.iter().map(RecordAdditive::size).max().unwrap_or(0);
        let trial = Trial {
            parameters: latent.parameters.clone(),
            coordinates: coordinates.clone(),
            sums: latent.sums.clone(),
            record: vec![0.0; target.model.width()],
            contribution: vec![0.0; size],
        };
        let exchange = Exchange::new(target.model.width(), size);
        Ok(InterweavingState { latent, log_prior: 0.0, coordinates, next: 0, trial, exchange })
    }

    fn step(
        &self,
        target: &Augmented<G, M>,
        state: &mut Self::State,
        rng: &mut ChainRng,
    ) -> Result<AugmentationInfo, Stop> {
        let sweep = state.latent.sweep(target, rng)?;
        let mut info = AugmentationInfo::of(sweep, state.latent.extreme_rates());
        if self.acceptance < SELDOM {
            let size = self.exchange.size();
            info.exchanges = state.exchange.sweep(target, &mut state.latent, size, rng)?;
        }
        let count = self.blocks.len();
        if count > 0 {
            target.model.write_coordinates(&state.latent.parameters, &mut state.coordinates);
            state.log_prior = target.model.log_prior(&state.latent.parameters);
            info.first_block = state.next;
            for acceptance in &mut info.by_move {
                *acceptance = self.attempt(target, state, &self.blocks[state.next], rng)?;
                state.next = (state.next + 1) % count;
            }
            info.moves = info.by_move.iter().sum::<f64>() / MOVES as f64;
        }
        target.model.write(&state.latent.parameters, &mut state.latent.position);
        Ok(info)
    }

    fn position<'s>(&self, state: &'s Self::State) -> &'s [f64] {
        &state.latent.position
    }

    fn adapt(&mut self, state: &Self::State, info: &AugmentationInfo) {
        if self.acceptance < SELDOM {
            self.exchange.learn(info.exchanges);
        }
        self.acceptance += FADING * (info.acceptance - self.acceptance);
        let count = self.blocks.len();
        for (number, acceptance) in info.by_move.iter().enumerate().filter(|_| count > 0) {
            self.blocks[(info.first_block + number) % count].learn(*acceptance);
        }
        self.blocks.iter_mut().for_each(|block| block.observe(&state.coordinates));
    }
}
