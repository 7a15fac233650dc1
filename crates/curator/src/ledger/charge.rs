//! Charges: what one release costs.

use super::account::{Budget, Spent};
use super::error::LedgerError;
use super::spending::Spending;
use organza_release::Neighbours;
use organza_release::loss::{LossError, Mechanism};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What one release costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Charge {
    /// The mechanism as the accountant sees it.
    pub mechanism: Mechanism,
    /// The total variation between the noise that is drawn and that mechanism's, summed over all entries:
    /// [`discrete_gaussian_total_variation`](organza_release::loss::discrete_gaussian_total_variation). 0 for
    /// (discrete) Laplace noise.
    pub total_variation: f64,
    /// Which tables are neighbours for the mechanism's numbers; `None` in ledgers that did not note it.
    pub neighbours: Option<Neighbours>,
    /// The epsilon that the release states.
    pub claimed_epsilon: f64,
    /// The delta that the release states.
    pub claimed_delta: f64,
    /// What was released, for people.
    pub description: String,
}

impl Charge {
    /// The claim as a budget of its own.
    pub(super) fn claim(&self) -> Budget {
        Budget { epsilon: self.claimed_epsilon, delta: self.claimed_delta }
    }

    /// Refuses numbers that make no sense and claims that the mechanism does not keep.
    pub(super) fn check(&self) -> Result<(), LedgerError> {
        let (value, requirement) = (self.total_variation, "at least 0 and below 1");
        if !(0.0..1.0).contains(&value) {
            return Err(LossError::Argument { argument: "total_variation", value, requirement }.into());
        }
        self.claim().check()?;
        let alone = Spending::default().with(self.mechanism, self.total_variation)?;
        if alone.fits(self.claim())? {
            return Ok(());
        }
        Err(LedgerError::FalseClaim { claim: self.claim(), spent: alone.spent(self.claim())? })
    }
}

/// The number of a charge in its ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ChargeId(pub i64);

impl fmt::Display for ChargeId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// What has happened: the charge is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChargeOutcome {
    /// For [`Ledger::mark_published`](super::Ledger::mark_published).
    pub id: ChargeId,
    /// The account had no budget, and this charge's claim has become it: tell the user.
    pub budget_was_set: bool,
    /// Spent of the budget, with this charge.
    pub spent: Spent,
}

/// A charge as the ledger holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChargeRecord {
    /// Its number.
    pub id: ChargeId,
    /// Who charged it.
    pub party: String,
    /// What was charged.
    pub charge: Charge,
    /// When, RFC 3339 in UTC.
    pub charged_at: String,
    /// Where the release was written; `None` if it was not, or if the process ended before it said so.
    pub published: Option<Publication>,
}

/// Where and when a release was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Publication {
    /// The file, or whatever else the publisher named.
    pub output: String,
    /// When, RFC 3339 in UTC.
    pub published_at: String,
}
