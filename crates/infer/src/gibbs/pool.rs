//! Parties that are one to this method.
//!
//! The parameters see only the sum of the Gram matrices. If parties have equal numbers of records, weights and Gaussian noise, the
//! sum of their full conditionals N(s0 + K (z_j - s0), V) is that of one party with the sum of the values, J times the records
//! and sqrt(J) times the noise: the gain K is the same. So J such parties cost as much as one.

use std::sync::Arc;

use organza_release::Family;

use crate::evidence::{GramNoise, Party};
use crate::judge::Accepted;

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
    /// Adds up the parties that may be.
    pub fn of(evidence: Accepted<'_>) -> Vec<Self> {
        let mut pools: Vec<Self> = Vec::new();
        for (party, each) in evidence.counted() {
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
        pools
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
