//! Parties that are one to this method.
//!
//! The parameters see only the sum of the Gram matrices. If parties have equal numbers of records, weights and Gaussian noise, the
//! sum of their full conditionals N(s0 + K (z_j - s0), V) is that of one party with the sum of the values, J times the records
//! and sqrt(J) times the noise: the gain K is the same. So J such parties cost as much as one.

use std::sync::Arc;

use organza_release::Family;

use crate::evidence::{Features, GramNoise, Party};
use crate::{Evidence, InferError};

/// Parties with the same mechanism and number of records, added up.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    /// Records of one of them.
    pub each: f64,
    /// How many they are.
    pub parties: f64,
    /// Sum of the noisy Gram matrices in weighted units.
    pub gram: Vec<f64>,
    /// The noise of one of them.
    pub noise: Arc<GramNoise>,
}

impl Pool {
    /// Checks the parties and adds up those that may be.
    pub fn of(evidence: &Evidence, method: &str) -> Result<Vec<Self>, InferError> {
        let mut pools: Vec<Self> = Vec::new();
        for party in &evidence.parties {
            let each = match party.records {
                Some(records) if records > 0.0 => records,
                _ => return Err(InferError::unsupported(&party.name, method, "a public number of records")),
            };
            if !party.noise.has_response_square() {
                return Err(InferError::unsupported(&party.name, method, "y'y"));
            }
            same_population(evidence, &evidence.parties[0], party)?;
            match pools.iter_mut().find(|pool| pool.takes(party, each)) {
                Some(pool) => {
                    pool.parties += 1.0;
                    pool.gram.iter_mut().zip(&party.gram).for_each(|(sum, value)| *sum += value);
                }
                None => {
                    let (gram, noise) = (party.gram.clone(), Arc::clone(&party.noise));
                    pools.push(Self { each, parties: 1.0, gram, noise });
                }
            }
        }
        Ok(pools)
    }

    /// Records of all of them.
    pub fn records(&self) -> f64 {
        self.each * self.parties
    }

    fn takes(&self, party: &Party, records: f64) -> bool {
        // The mixture of normals that makes Laplace noise differs from party to party.
        let gaussian = party.noise.family == Family::Gaussian;
        let same = || Arc::ptr_eq(&self.noise, &party.noise) || self.noise == party.noise;
        gaussian && self.each == records && same()
    }
}

/// Records that were shrunk to different radii, or with constants of different weights, are not from one distribution.
fn same_population(evidence: &Evidence, first: &Party, second: &Party) -> Result<(), InferError> {
    let fail = |field: &'static str, expected: String, found: String| {
        let (first, second) = (first.name.clone(), second.name.clone());
        Err(InferError::Disagreement { first, second, field, expected, found })
    };
    let (a, b) = (&first.noise, &second.noise);
    if a.record_scale != b.record_scale {
        let text = |scale: Option<f64>| scale.map_or("none".into(), |scale| scale.to_string());
        return fail("the scale of records", text(a.record_scale), text(b.record_scale));
    }
    let scaled = evidence.domain().intercept() && evidence.features() == Features::Centred;
    if scaled && a.weights[0] != b.weights[0] {
        return fail("the weight of the intercept", a.weights[0].to_string(), b.weights[0].to_string());
    }
    Ok(())
}
