//! Latent records, their sums, and one sweep over them.

use organza_mcmc::{ChainRng, Stop};
use rand::RngExt;

use super::info::Sweep;
use super::{Augmented, Generative, PartySum, RecordAdditive, Replacement};

/// Sums are computed anew after so many sweeps: rounding errors of their updates cannot add up.
const REFRESH: u64 = 50;
/// How far beyond the bound of pure differential privacy a log ratio may be by rounding.
const SLACK: f64 = 1e-9;

/// Latent records of all parties with the parameters of a chain.
#[derive(Debug, Clone)]
pub struct AugmentationState<P> {
    pub(super) parameters: P,
    /// All parties one after the other, row-major.
    pub(super) records: Vec<f64>,
    pub(super) sums: Vec<PartySum>,
    /// How often each record was exchanged for its proposal.
    accepted: Vec<u32>,
    sweeps: u64,
    proposal: Vec<f64>,
    /// Memory for one contribution.
    contribution: Vec<f64>,
    replacement: Replacement,
    pub(super) position: Vec<f64>,
}

impl<P> AugmentationState<P> {
    /// Parameters from the model's start and records given them.
    pub(super) fn start<G, M>(target: &Augmented<G, M>, rng: &mut ChainRng) -> Result<Self, Stop>
    where
        G: Generative<Parameters = P>,
        M: RecordAdditive,
    {
        let (model, width) = (&target.model, target.model.width());
        let parameters = model.start(rng)?;
        let mut records = vec![0.0; target.records() * width];
        records.chunks_exact_mut(width).for_each(|record| model.draw_record(&parameters, rng, record));
        let mut position = vec![0.0; model.names().len()];
        model.write(&parameters, &mut position);
        let size = target.parties.iter().map(RecordAdditive::size).max().unwrap_or(0);
        let sum = |party: &M| PartySum { sum: vec![0.0; party.size()], log_density: 0.0 };
        let sums = target.parties.iter().map(sum).collect();
        let mut state = Self {
            parameters,
            records,
            sums,
            accepted: vec![0; target.records()],
            sweeps: 0,
            proposal: vec![0.0; width],
            contribution: vec![0.0; size],
            replacement: Replacement::new(size),
            position,
        };
        state.refresh(target);
        Ok(state)
    }

    /// Parameters given the records, then every record given the parameters. \[JAGR22\] Algorithm 1
    pub(super) fn sweep<G, M>(&mut self, target: &Augmented<G, M>, rng: &mut ChainRng) -> Result<Sweep, Stop>
    where
        G: Generative<Parameters = P>,
        M: RecordAdditive,
    {
        target.model.draw_parameters(&self.records, &mut self.parameters, rng)?;
        let mut tally = Tally { total: 0.0, smallest: 1.0 };
        let (mut start, width) = (0, target.model.width());
        for (party, sum) in target.parties.iter().zip(&mut self.sums) {
            let end = start + party.records();
            let records = self.records[start * width..end * width].chunks_exact_mut(width);
            let bound = party.epsilon().map_or(f64::NEG_INFINITY, |epsilon| -epsilon - SLACK);
            for (record, accepted) in records.zip(&mut self.accepted[start..end]) {
                target.model.draw_record(&self.parameters, rng, &mut self.proposal);
                let ratio = party.log_ratio(sum, record, &self.proposal, &mut self.replacement);
                if ratio.is_nan() || ratio < bound {
                    return Err(beyond_the_bound(party, ratio));
                }
                if tally.decide(ratio, rng) {
                    party.replace(&mut sum.sum, record, &self.proposal, &self.replacement);
                    sum.log_density += ratio;
                    record.copy_from_slice(&self.proposal);
                    *accepted += 1;
                }
            }
            start = end;
        }
        self.sweeps += 1;
        if self.sweeps.is_multiple_of(REFRESH) {
            self.refresh(target);
        }
        Ok(Sweep { acceptance: tally.total / start.max(1) as f64, smallest: tally.smallest })
    }

    /// Sums and densities from the records.
    pub(super) fn refresh<G, M: RecordAdditive>(&mut self, target: &Augmented<G, M>) {
        let width = self.proposal.len();
        let mut start = 0;
        for (party, sum) in target.parties.iter().zip(&mut self.sums) {
            let end = start + party.records() * width;
            let contribution = &mut self.contribution[..party.size()];
            sum.sum.fill(0.0);
            for record in self.records[start..end].chunks_exact(width) {
                party.contribution(record, contribution);
                sum.sum.iter_mut().zip(contribution.iter()).for_each(|(sum, value)| *sum += value);
            }
            sum.log_density = party.log_density(&sum.sum);
            start = end;
        }
    }

    /// For every latent record, all parties one after the other, how often its proposals were accepted.
    pub fn record_acceptance(&self) -> impl Iterator<Item = f64> {
        let sweeps = self.sweeps.max(1) as f64;
        self.accepted.iter().map(move |count| f64::from(*count) / sweeps)
    }

    /// The smallest and the largest of these rates.
    pub(super) fn extreme_rates(&self) -> (f64, f64) {
        let (least, most) = self
            .accepted
            .iter()
            .fold((u32::MAX, 0), |(least, most), count| (least.min(*count), most.max(*count)));
        let sweeps = self.sweeps.max(1) as f64;
        (f64::from(least) / sweeps, f64::from(most) / sweeps)
    }
}

/// Probabilities of acceptance so far.
struct Tally {
    total: f64,
    smallest: f64,
}

impl Tally {
    /// Decides with this log ratio, without a random number where the answer is certain.
    #[inline]
    fn decide(&mut self, ratio: f64, rng: &mut ChainRng) -> bool {
        let probability = if ratio < 0.0 { libm::exp(ratio) } else { 1.0 };
        self.total += probability;
        self.smallest = f64::min(self.smallest, probability);
        ratio >= 0.0 || rng.random::<f64>() < probability
    }
}

fn beyond_the_bound<M: RecordAdditive>(party: &M, ratio: f64) -> Stop {
    if ratio.is_nan() {
        return Stop::numerical(format!("{}: the density of the release is not a number", party.party()));
    }
    let (name, epsilon) = (party.party(), party.epsilon().unwrap_or(f64::INFINITY));
    Stop::numerical(format!(
        "{name}: exchanging one record changes the density of the release by a factor of exp({ratio:.6}), more than its \
         privacy.epsilon = {epsilon} allows: the epsilon or the noise scales in this release are wrong, ask the data holder"
    ))
}
