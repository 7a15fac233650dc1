//! Exchanges between two records: one gains what the other loses, so that sums hardly change.
//!
//! For noise so small that independent proposals of single records are seldom accepted. x_i + d and x_j - d are accepted with the
//! ratio of the model's densities times that of the noise; d and -d are equally likely, so nothing else enters.

use std::ops::Range;

use organza_mcmc::{ChainRng, Stop};
use rand::RngExt;

use super::{AugmentationState, Augmented, PartySum, RecordAdditive, RecordDensity};
use crate::random::{accept, normal};

/// One exchange for so many records in a step.
const RECORDS_PER_EXCHANGE: usize = 4;

/// Memory for an exchange.
#[derive(Debug, Clone)]
pub(super) struct Exchange {
    spreads: Vec<f64>,
    /// Both records after the exchange.
    pair: [Vec<f64>; 2],
    sum: Vec<f64>,
    contribution: Vec<f64>,
}

impl Exchange {
    /// For records of this width and contributions of at most this size.
    pub fn new(width: usize, size: usize) -> Self {
        let (record, line) = (vec![0.0; width], vec![0.0; size]);
        let pair = [record.clone(), record.clone()];
        Self { spreads: record, pair, sum: line.clone(), contribution: line }
    }

    /// Offers exchanges in every party; gives their mean probability of acceptance, 1 if there are none.
    pub fn sweep<G: RecordDensity, M: RecordAdditive>(
        &mut self,
        target: &Augmented<G, M>,
        latent: &mut AugmentationState<G::Parameters>,
        step: f64,
        rng: &mut ChainRng,
    ) -> Result<f64, Stop> {
        target.model.write_spreads(&latent.parameters, &mut self.spreads);
        self.spreads.iter_mut().for_each(|spread| *spread *= step);
        let (mut start, mut total, mut offered) = (0, 0.0, 0);
        for (number, party) in target.parties.iter().enumerate() {
            let count = party.records();
            let exchanges = if count < 2 { 0 } else { count.div_ceil(RECORDS_PER_EXCHANGE) };
            for _ in 0..exchanges {
                let first = rng.random_range(0..count);
                let second = (first + rng.random_range(1..count)) % count;
                total += self.offer(target, latent, (number, [start + first, start + second]), rng)?;
            }
            offered += exchanges;
            start += count;
        }
        Ok(if offered == 0 { 1.0 } else { total / offered as f64 })
    }

    /// Offers one exchange between two records of a party; gives the probability of acceptance.
    fn offer<G: RecordDensity, M: RecordAdditive>(
        &mut self,
        target: &Augmented<G, M>,
        latent: &mut AugmentationState<G::Parameters>,
        (number, places): (usize, [usize; 2]),
        rng: &mut ChainRng,
    ) -> Result<f64, Stop> {
        let (party, width) = (&target.parties[number], self.spreads.len());
        let places = places.map(|place| place * width..(place + 1) * width);
        self.propose(&latent.records, &places, rng);
        let of = |record: &[f64]| target.model.log_density(&latent.parameters, record);
        let mut ratio = 0.0;
        for (new, place) in self.pair.iter().zip(&places) {
            ratio += of(new) - of(&latent.records[place.clone()]);
        }
        let density = self.sum_after(party, &latent.records, &places, &latent.sums[number]);
        ratio += density - latent.sums[number].log_density;
        if ratio.is_nan() {
            let reason = format!("{}: the density of an exchange of records is not a number", party.party());
            return Err(Stop::numerical(reason));
        }
        if accept(rng, ratio) {
            let sum = &mut latent.sums[number];
            let size = sum.sum.len();
            sum.sum.copy_from_slice(&self.sum[..size]);
            sum.log_density = density;
            let moved = self.pair.iter().zip(places);
            moved.for_each(|(new, place)| latent.records[place].copy_from_slice(new));
        }
        Ok(libm::exp(ratio.min(0.0)))
    }

    /// Both records after a random exchange.
    fn propose(&mut self, records: &[f64], places: &[Range<usize>; 2], rng: &mut ChainRng) {
        for (moved, place) in self.pair.iter_mut().zip(places) {
            moved.copy_from_slice(&records[place.clone()]);
        }
        let [gains, loses] = &mut self.pair;
        for ((gain, loss), spread) in gains.iter_mut().zip(loses).zip(&self.spreads) {
            let amount = spread * normal(rng);
            (*gain, *loss) = (*gain + amount, *loss - amount);
        }
    }

    /// The party's sum after the exchange; gives the log density of its release there.
    fn sum_after<M: RecordAdditive>(
        &mut self,
        party: &M,
        records: &[f64],
        places: &[Range<usize>; 2],
        before: &PartySum,
    ) -> f64 {
        let size = before.sum.len();
        let (moved, contribution) = (&mut self.sum[..size], &mut self.contribution[..size]);
        moved.copy_from_slice(&before.sum);
        for (new, place) in self.pair.iter().zip(places) {
            party.contribution(&records[place.clone()], contribution);
            moved.iter_mut().zip(contribution.iter()).for_each(|(sum, value)| *sum -= value);
            party.contribution(new, contribution);
            moved.iter_mut().zip(contribution.iter()).for_each(|(sum, value)| *sum += value);
        }
        party.log_density(moved)
    }
}
