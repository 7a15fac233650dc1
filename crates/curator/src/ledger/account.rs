//! Accounts, their budgets, and what is spent of them.

use super::charge::Charge;
use super::{LedgerError, spending};
use crate::fingerprint::Fingerprint;
use organza_release::Neighbours;
use organza_release::loss::{Composition, LossError, Mechanism};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use unicode_normalization::UnicodeNormalization;

/// A data set and who charges it. The budget belongs to the data set alone; the party is a label of its charges.
///
/// Names are compared in their compatibility form (NFKC), so that what looks alike is alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    dataset: String,
    party: String,
    #[serde(skip)]
    content: Fingerprint,
}

impl Account {
    /// The account of `dataset`, a name that stays the same for as long as the records do, held by `party`.
    pub fn new(dataset: impl AsRef<str>, party: impl AsRef<str>) -> Self {
        let normal = |name: &str| name.nfkc().collect();
        Self {
            dataset: normal(dataset.as_ref()),
            party: normal(party.as_ref()),
            content: Fingerprint::default(),
        }
    }

    /// The same account, whose records have been read: their content must not have been charged under another name.
    #[must_use]
    pub fn with_content(self, content: Fingerprint) -> Self {
        Self { content, ..self }
    }

    /// The name of the data set.
    pub fn dataset(&self) -> &str {
        &self.dataset
    }

    /// The party that charges.
    pub fn party(&self) -> &str {
        &self.party
    }

    pub(super) fn content(&self) -> &Fingerprint {
        &self.content
    }

    pub(super) fn check(&self) -> Result<(), LedgerError> {
        // Names that differ in what cannot be seen look alike to a person and would have two budgets.
        let bad = |name: &str| name.is_empty() || name.trim() != name || name.chars().any(is_invisible);
        match (bad(&self.dataset), bad(&self.party)) {
            (true, _) => Err(LedgerError::Name { field: "dataset", value: self.dataset.clone() }),
            (_, true) => Err(LedgerError::Name { field: "party", value: self.party.clone() }),
            _ => Ok(()),
        }
    }
}

/// Control characters and characters that are not drawn: joiners, directions, fillers, variants and tags.
fn is_invisible(character: char) -> bool {
    const RANGES: [(u32, u32); 16] = [
        (0xAD, 0xAD),
        (0x34F, 0x34F),
        (0x61C, 0x61C),
        (0x115F, 0x1160),
        (0x17B4, 0x17B5),
        (0x180B, 0x180F),
        (0x200B, 0x200F),
        (0x2028, 0x202E),
        (0x2060, 0x206F),
        (0x2800, 0x2800),
        (0x3164, 0x3164),
        (0xFE00, 0xFE0F),
        (0xFEFF, 0xFEFF),
        (0xFFA0, 0xFFA0),
        (0xFFF0, 0xFFFB),
        (0xE0000, 0xE0FFF),
    ];
    character.is_control() || RANGES.iter().any(|(from, to)| (*from..=*to).contains(&(character as u32)))
}

impl fmt::Display for Account {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "data set '{}'", self.dataset)
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
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Which tables count as neighbours in what is spent.
    pub neighbours: Neighbours,
    /// Whether the charge would be accepted.
    pub fits: bool,
}

impl Preview {
    /// The preview of a charge that would be the first of a new ledger.
    pub fn of_first(charge: &Charge) -> Result<Self, LedgerError> {
        charge.check()?;
        spending::preview(None, None, &[], charge)
    }
}

/// One line of an overview.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AccountSummary {
    /// The data set, and the party that charged it last.
    pub account: Account,
    /// Which tables count as neighbours; `None` until the first charge decides.
    pub neighbours: Option<Neighbours>,
    /// Its budget.
    pub budget: Budget,
    /// What is spent of it, published or not.
    pub spent: Spent,
    /// The number of its charges.
    pub charges: usize,
    /// How many of them have been published.
    pub published: usize,
}
