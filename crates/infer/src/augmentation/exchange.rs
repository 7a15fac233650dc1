//! Exchanges between two records: one gains what the other loses, so that sums hardly change.
//!
//! For noise so small that independent proposals of single records are seldom accepted. x_i + d and x_j - d are accepted with the
//! ratio of the model's densities times that of the noise; d and -d are equally likely, so nothing else enters.

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

    /// Offers one exchange between two records of a party.
    fn offer<G: RecordDensity, M: RecordAdditive>(
        &mut self,
        target: &Augmented<G, M>,
        latent: &mut AugmentationState<G::Parameters>,
        (number, places): (usize, [usize; 2]),
        rng: &mut ChainRng,
    ) -> Result<f64, Stop> {
        let (model, party) = (&target.model, &target.parties[number]);
        let width = self.spreads.len();
        let PartySum { sum, log_density } = &mut latent.sums[number];
        let places = places.map(|place| place * width..(place + 1) * width);
        for (moved, place) in self.pair.iter_mut().zip(&places) {
            moved.copy_from_slice(&latent.records[place.clone()]);
        }
        let [gains, loses] = &mut self.pair;
        for ((gain, loss), spread) in gains.iter_mut().zip(loses).zip(&self.spreads) {
            let amount = spread * normal(rng);
            (*gain, *loss) = (*gain + amount, *loss - amount);
        }
        let (moved, contribution) = (&mut self.sum[..sum.len()], &mut self.contribution[..sum.len()]);
        moved.copy_from_slice(sum);
        let mut ratio = 0.0;
        for (new, place) in self.pair.iter().zip(&places) {
            let old = &latent.records[place.clone()];
            ratio += model.log_density(&latent.parameters, new) - model.log_density(&latent.parameters, old);
            party.contribution(old, contribution);
            moved.iter_mut().zip(contribution.iter()).for_each(|(sum, value)| *sum -= value);
            party.contribution(new, contribution);
            moved.iter_mut().zip(contribution.iter()).for_each(|(sum, value)| *sum += value);
        }
        let density = party.log_density(moved);
        ratio += density - *log_density;
        if ratio.is_nan() {
            return Err(Stop::numerical(format!(
                "{}: the density of an exchange is not a number",
                party.party()
            )));
        }
        if accept(rng, ratio) {
            sum.copy_from_slice(moved);
            *log_density = density;
            for (new, place) in self.pair.iter().zip(places) {
                latent.records[place].copy_from_slice(new);
            }
        }
        Ok(libm::exp(ratio.min(0.0)))
    }
}
