//! The parties, added up where their noise allows it.

use super::uneven::Uneven;
use crate::evidence::{Isometry, Party};
use crate::judge::Accepted;
use crate::linalg::symmetrise;

/// What the parties released, added up.
#[derive(Debug, Clone, Default)]
pub(super) struct Sums {
    /// Sums with isometric noise.
    pub groups: Vec<Group>,
    /// Sums with other noise.
    pub uneven: Vec<Uneven>,
    /// For every number of records that is not public, the most that it can be in units of its guess, if that is public.
    pub counts: Vec<Option<f64>>,
    /// For every variance that is a parameter, the shape of its gamma law, whose mean is 1.
    pub variances: Vec<f64>,
}

/// Parties whose records have the same weights: one eigendecomposition serves them all.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub weights: Vec<f64>,
    pub blocks: Vec<Block>,
}

/// The weighted sum of parties of a group: a Gram matrix of records from one population, with noise.
///
/// Only the sum counts. How far the parties are from each other would say something of the population if records were normal, and
/// mislead where they are not.
#[derive(Debug, Clone)]
pub(super) struct Block {
    /// Records of the sum; where that is not public, a guess.
    pub records: f64,
    /// The place of the true number in units of the guess among those that are not public, and what is known of it.
    pub count: Option<Count>,
    /// tau^2.
    pub variance: f64,
    /// Whether the first coordinate is a constant; its square is then no part of the density.
    pub constant: bool,
    pub response: ResponseSquare,
    /// Weighted Gram matrix.
    pub gram: Vec<f64>,
}

/// A number of records that is not public, in units of a guess.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Count {
    pub place: usize,
    /// The noisy number.
    pub observed: f64,
    /// The sd of its noise.
    pub sd: f64,
    /// The most that it can be, where that is public.
    pub most: Option<f64>,
}

/// How well y'y is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ResponseSquare {
    /// Like every other entry on the diagonal.
    Isometric,
    /// With noise of its own variance.
    Own(f64),
    /// Not released.
    Missing,
}

impl Sums {
    /// Adds up the parties.
    pub fn new(evidence: Accepted<'_>) -> Self {
        let constant = evidence.domain().intercept();
        let public = |party: &Party| party.records.is_some() && !(constant && evidence.domain().is_scaled());
        let mut groups: Vec<(Vec<f64>, Vec<Vec<Block>>)> = vec![];
        let mut rest: Vec<Vec<&Party>> = vec![];
        for party in &evidence.parties {
            // A party without records says nothing.
            if party.records == Some(0.0) {
                continue;
            }
            let Some(noise) = party.noise.isometry() else {
                let alike = |other: &&mut Vec<&Party>| {
                    let noise = |party: &Party| (party.noise.family, party.noise.has_response_square());
                    noise(other[0]) == noise(party) && public(other[0]) == public(party)
                };
                match rest.iter_mut().find(alike) {
                    Some(others) => others.push(party),
                    None => rest.push(vec![party]),
                }
                continue;
            };
            let block = block(party, noise, (constant, public(party)));
            if block.records <= 0.0 {
                continue;
            }
            let weights = &party.noise.weights;
            let place = groups.iter().position(|(other, _)| other == weights).unwrap_or_else(|| {
                groups.push((weights.clone(), vec![]));
                groups.len() - 1
            });
            let alike = |other: &&mut Vec<Block>| other[0].has_shape_of(&block);
            match groups[place].1.iter_mut().find(alike) {
                Some(others) => others.push(block),
                None => groups[place].1.push(vec![block]),
            }
        }
        let mut sums = Self::default();
        for (weights, blocks) in groups {
            let blocks = blocks.iter().map(|alike| sum(alike, &weights)).collect();
            sums.groups.push(Group { weights, blocks });
        }
        for parties in rest {
            sums.uneven.push(Uneven::new(&parties, constant, public(parties[0])));
        }
        sums.number();
        sums
    }

    /// Gives every parameter beside the population its place.
    fn number(&mut self) {
        let Self { groups, uneven, counts, variances } = self;
        for count in
            groups.iter_mut().flat_map(|group| &mut group.blocks).filter_map(|block| block.count.as_mut())
        {
            count.place = counts.len();
            counts.push(count.most);
        }
        for sum in uneven {
            if let Some((place, most)) = &mut sum.count {
                *place = counts.len();
                counts.push(*most);
            }
            for (place, shape) in sum.mixing.iter_mut().flatten() {
                *place = variances.len();
                variances.push(*shape);
            }
        }
    }

    /// Records in all; a guess where that is not public.
    pub fn records(&self) -> f64 {
        let even = self.groups.iter().flat_map(|group| &group.blocks).map(|block| block.records);
        even.chain(self.uneven.iter().map(|sum| sum.records)).sum()
    }
}

fn block(party: &Party, noise: Isometry, (constant, public): (bool, bool)) -> Block {
    let (variance, own) = (noise.scale * noise.scale, noise.response_scale * noise.response_scale);
    let response = match own {
        _ if own.is_infinite() => ResponseSquare::Missing,
        _ if (own - variance).abs() <= 1e-12 * variance => ResponseSquare::Isometric,
        _ => ResponseSquare::Own(own),
    };
    let mut gram = party.gram.clone();
    symmetrise(&mut gram, party.size());
    let (records, count) = match party.records {
        Some(records) if public => (records, None),
        // With a constant the first entry counts records, by their weights where they are scaled.
        most => {
            let square = party.noise.weights[0] * party.noise.weights[0];
            let (found, sd) = (gram[0] / square, noise.scale / square);
            if noise.scale == 0.0 {
                (found.max(0.0), None)
            } else {
                let guess = found.max(2.0 * sd).max(1.0).min(most.unwrap_or(f64::INFINITY));
                let most = most.map(|most| most / guess);
                (guess, Some(Count { place: 0, observed: found / guess, sd: sd / guess, most }))
            }
        }
    };
    Block { records, count, variance, constant, response, gram }
}

impl Block {
    /// Whether sums of both make sense.
    fn has_shape_of(&self, other: &Self) -> bool {
        let kind = |block: &Self| match block.response {
            ResponseSquare::Isometric => (0, block.count.is_some()),
            ResponseSquare::Own(_) => (1, block.count.is_some()),
            ResponseSquare::Missing => (2, block.count.is_some()),
        };
        kind(self) == kind(other)
    }
}

/// Factors of parties in their sum, from the records and the variance of noise of each: by the precision that sampling and noise leave to it, equal where
/// noise is small, by records where it is large. Of `share` times n records each, the sum has the mean of sum(share n) records and the
/// sampling variance of sum(share^2 n); multiplied by their ratio it is the sum of whole records.
pub(super) fn shares(parties: &[(f64, f64)], typical: f64) -> Vec<f64> {
    let share = |(records, variance): &(f64, f64)| 1.0 / (1.0 + variance / (records * typical * typical));
    let largest = parties.iter().map(share).fold(0.0, f64::max);
    let shares: Vec<f64> =
        parties.iter().map(|party| if largest > 0.0 { share(party) / largest } else { 1.0 }).collect();
    let total = |power: i32| -> f64 {
        parties.iter().zip(&shares).map(|((records, _), share)| share.powi(power) * records).sum()
    };
    let factor = total(1) / total(2);
    shares.iter().map(|share| factor * share).collect()
}

/// The sum of parties.
fn sum(blocks: &[Block], weights: &[f64]) -> Block {
    let [first, ..] = blocks else { unreachable!("every list has a first block") };
    if blocks.len() == 1 {
        return first.clone();
    }
    // Mean square of a coordinate: a record that fills a third of its bounds, seldom more.
    let typical = weights.iter().map(|weight| 0.1 * weight * weight).sum::<f64>() / weights.len() as f64;
    let known: Vec<(f64, f64)> = blocks.iter().map(|block| (block.records, block.variance)).collect();
    let factors = shares(&known, typical);
    let total = |power: i32, of: &dyn Fn(&Block) -> f64| -> f64 {
        blocks.iter().zip(&factors).map(|(block, factor)| factor.powi(power) * of(block)).sum()
    };
    let square = |of: &dyn Fn(&Block) -> f64| total(2, of);
    let mut gram = vec![0.0; first.gram.len()];
    for (block, factor) in blocks.iter().zip(&factors) {
        gram.iter_mut().zip(&block.gram).for_each(|(sum, value)| *sum += factor * value);
    }
    let records = total(1, &|block| block.records);
    let count = first.count.map(|_| {
        let known = |of: &dyn Fn(&Count) -> f64| {
            total(1, &|block| block.count.map_or(0.0, |count| block.records * of(&count))) / records
        };
        let sd = square(&|block| block.count.map_or(0.0, |count| (block.records * count.sd).powi(2))).sqrt()
            / records;
        let most = blocks.iter().all(|block| block.count.is_some_and(|count| count.most.is_some()));
        let most = most.then(|| known(&|count| count.most.unwrap_or(1.0)));
        Count { place: 0, observed: known(&|count| count.observed), sd, most }
    });
    let response = match first.response {
        ResponseSquare::Own(_) => ResponseSquare::Own(square(&|block| match block.response {
            ResponseSquare::Own(variance) => variance,
            _ => block.variance,
        })),
        other => other,
    };
    Block {
        records,
        count,
        variance: square(&|block| block.variance),
        constant: first.constant,
        response,
        gram,
    }
}
