//! Accounts, their budgets, and what is spent of them.

use super::charge::Charge;
use super::{LedgerError, spending};
use organza_release::loss::{Composition, LossError, Mechanism};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a budget belongs to: a data set in the hands of a party.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Account {
    /// The data set, by a name that stays the same for as long as the records do.
    pub dataset: String,
    /// The party that holds it.
    pub party: String,
}

impl Account {
    /// The account of `party` for `dataset`.
    pub fn new(dataset: impl Into<String>, party: impl Into<String>) -> Self {
        Self { dataset: dataset.into(), party: party.into() }
    }

    pub(super) fn check(&self) -> Result<(), LedgerError> {
        // Names that differ in blanks only look alike to a person and would have two budgets.
        let bad = |name: &str| name.is_empty() || name.trim() != name || name.chars().any(char::is_control);
        match (bad(&self.dataset), bad(&self.party)) {
            (true, _) => Err(LedgerError::Name { field: "dataset", value: self.dataset.clone() }),
            (_, true) => Err(LedgerError::Name { field: "party", value: self.party.clone() }),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Account {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "data set '{}' of party '{}'", self.dataset, self.party)
    }
}

/// The limit of what may be spent in total.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// The largest epsilon, at least 0.
    pub epsilon: f64,
    /// The largest delta, in [0, 1). With 0 only pure mechanisms fit.
    pub delta: f64,
}

impl Budget {
    pub(super) fn check(self) -> Result<(), LossError> {
        Composition::of([Mechanism::Approximate { epsilon: self.epsilon, delta: self.delta }]).map(drop)
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "epsilon = {} at delta = {}", self.epsilon, self.delta)
    }
}

/// What is spent of a budget, seen from both sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// The epsilon at the budget's delta; `None` if no epsilon holds at that delta.
    pub epsilon: Option<f64>,
    /// The delta at the budget's epsilon, with what the lattice adds.
    pub delta: f64,
}

impl fmt::Display for Spent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.epsilon {
            // Six significant digits, without trailing zeros.
            Some(epsilon) => match format!("{epsilon:.5e}").parse::<f64>() {
                Ok(rounded) => write!(formatter, "epsilon = {rounded}"),
                Err(_) => write!(formatter, "epsilon = {epsilon}"),
            },
            None => write!(formatter, "more than any epsilon"),
        }
    }
}

/// What a charge would do to an account. Nothing has been recorded.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Preview {
    /// The budget, or what it would become.
    pub budget: Budget,
    /// There is no budget yet: the charge's own claim would become the budget.
    pub budget_would_be_set: bool,
    /// Spent without the charge.
    pub spent_before: Spent,
    /// Spent with the charge.
    pub spent_after: Spent,
    /// Whether the charge would be accepted.
    pub fits: bool,
}

impl Preview {
    /// The preview of a charge that would be the first of a new ledger.
    pub fn of_first(charge: &Charge) -> Result<Self, LedgerError> {
        charge.check()?;
        spending::preview(None, &[], charge)
    }
}

/// One line of an overview.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AccountSummary {
    /// The account.
    pub account: Account,
    /// Its budget.
    pub budget: Budget,
    /// What is spent of it, published or not.
    pub spent: Spent,
    /// The number of its charges.
    pub charges: usize,
    /// How many of them have been published.
    pub published: usize,
}
