//! `augmentation`: latent records of every party and parameters, drawn in turn.
//!
//! **Target.** p(theta, x_1 .. x_n | releases): parameters of a [`Generative`] model with one latent record for every record
//! that a party has, given releases of [`RecordAdditive`] mechanisms. Records are clamped by the mechanism, never by the model:
//! the parameters are drawn from records as they were before clamping.
//! **Exactness.** Exact in the limit of many draws for every number of records: no normal limit, clamping and scaling as the data
//! holder does them. For regressions features and residuals are assumed normal before clamping.
//! **Cost.** O(n) per step and 8 bytes per latent number. [`Plain`] moves the parameters only as far as latent records allow, which is
//! far less than the posterior is wide where noise is large; [`Interweaving`] also moves them with all records in tow.
//! **Citation.** \[JAGR22\] Algorithm 1; interweaving: Yu and Meng (2011).
//!
//! | paper | here |
//! | --- | --- |
//! | theta, x_i | `parameters`, `records` |
//! | t_i(x_i, s_dp), their sum | `contribution`, `sum` |
//! | eta(s_dp given x) | `log_density` of a mechanism |

mod categorical;
mod exchange;
mod generative;
mod gram;
mod info;
mod interweaving;
mod linear;
mod logistic;
mod mechanism;
mod non_centred;
mod plain;
mod shape;
mod signed;
mod state;
mod tables;
#[cfg(test)]
mod tests;

/// Most numbers in the latent records of all parties: a chain holds all of them.
pub(crate) const MOST_LATENT: f64 = 2e7;

pub use categorical::{CategoricalParameters, NaiveBayesRecords, SaturatedRecords};
pub use generative::{Generative, Interweave, RecordDensity};
pub use gram::GramMechanism;
pub use info::AugmentationInfo;
pub use interweaving::{Interweaving, InterweavingState};
pub use linear::{LinearModel, LinearParameters};
pub use logistic::{LogisticModel, LogisticParameters};
pub use mechanism::{PartySum, RecordAdditive, Replacement};
pub use plain::Plain;
pub use signed::SignedResponse;
pub use state::AugmentationState;
pub use tables::{TableMechanism, table_mechanisms};

/// A model and what the parties released of its records.
#[derive(Debug, Clone)]
pub struct Augmented<G, M> {
    /// The model of a record.
    pub model: G,
    /// One mechanism for every party.
    pub parties: Vec<M>,
}

impl<G: Generative, M: RecordAdditive> Augmented<G, M> {
    /// Latent records of all parties.
    pub fn records(&self) -> usize {
        self.parties.iter().map(RecordAdditive::records).sum()
    }
}
