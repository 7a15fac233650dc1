//! The parties, sorted so that what can be computed once is computed once.

use organza_release::Family;

use crate::evidence::{Evidence, Features, Isometry, Party};
use crate::{InferError, linalg::symmetrise};

/// Parties whose records have the same weights: one eigendecomposition serves them all.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub weights: Vec<f64>,
    pub blocks: Vec<Block>,
}

/// Parties of a group with as many records and the same noise: one covariance serves them all.
#[derive(Debug, Clone)]
pub(super) struct Block {
    /// n.
    pub records: f64,
    /// tau^2.
    pub variance: f64,
    /// Whether the first diagonal entry is known exactly: n times the squared weight of the constant.
    pub constant: bool,
    pub response: ResponseSquare,
    /// Weighted Gram matrices.
    pub grams: Vec<Vec<f64>>,
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

/// Sorts the parties; an error if a release lacks something.
pub(super) fn group(evidence: &Evidence) -> Result<Vec<Group>, InferError> {
    let mut groups: Vec<Group> = vec![];
    for party in &evidence.parties {
        let block = block(evidence, party)?;
        let weights = &party.noise.weights;
        // A party without records says nothing.
        if block.records == 0.0 {
            continue;
        }
        let place = groups.iter().position(|group| group.weights == *weights).unwrap_or_else(|| {
            groups.push(Group { weights: weights.clone(), blocks: vec![] });
            groups.len() - 1
        });
        let blocks = &mut groups[place].blocks;
        match blocks.iter_mut().find(|other| other.shares_covariance(&block)) {
            Some(other) => other.grams.extend(block.grams),
            None => blocks.push(block),
        }
    }
    Ok(groups)
}

fn block(evidence: &Evidence, party: &Party) -> Result<Block, InferError> {
    let lacks = |needs: &str| InferError::unsupported(&party.name, "marginal", needs);
    let noise = isometry(party).ok_or_else(|| lacks("gaussian noise in the isometric layout"))?;
    let records = party.records.ok_or_else(|| lacks("a public number of records"))?;
    let first = &evidence.parties[0];
    let scaled_constant = evidence.domain().intercept() && evidence.domain().is_scaled();
    let same_constant = !scaled_constant || party.noise.weights[0] == first.noise.weights[0];
    if party.noise.record_scale != first.noise.record_scale || !same_constant {
        let needs = format!("records scaled like those of {}", first.name);
        return Err(lacks(&needs));
    }
    let (variance, own) = (noise.scale * noise.scale, noise.response_scale * noise.response_scale);
    let response = match own {
        _ if own.is_infinite() => ResponseSquare::Missing,
        _ if own == variance => ResponseSquare::Isometric,
        _ => ResponseSquare::Own(own),
    };
    let mut gram = party.gram.clone();
    symmetrise(&mut gram, party.size());
    let constant = evidence.features() == Features::Intercept;
    Ok(Block { records, variance, constant, response, grams: vec![gram] })
}

/// The noise as an isometry; also no noise at all, and the regression on nothing but a constant, whose only entries with
/// noise are those of the response.
fn isometry(party: &Party) -> Option<Isometry> {
    let (noise, size) = (&party.noise, party.size());
    let response_scale = noise.scales[size * size - 1];
    if noise.family == Family::Gaussian
        && noise.scales.iter().all(|scale| *scale == 0.0 || scale.is_infinite())
    {
        return Some(Isometry { scale: 0.0, response_scale });
    }
    if noise.family == Family::Gaussian && size == 2 && noise.scales[0] == 0.0 {
        return Some(Isometry { scale: noise.scales[1] * std::f64::consts::SQRT_2, response_scale });
    }
    noise.isometry()
}

impl Block {
    fn shares_covariance(&self, other: &Self) -> bool {
        (self.records, self.variance) == (other.records, other.variance) && self.response == other.response
    }
}
