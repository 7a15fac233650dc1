//! The ledger: how much privacy each party has spent on each data set, in one SQLite file.
//!
//! A release is *charged before anything is written*: [`Ledger::charge`] checks the budget and records the
//! charge in one durable transaction, then the release is written, then [`Ledger::mark_published`] notes
//! where. A crash in between loses budget, never privacy: a charge counts whether or not it was published.
//! Two processes that charge at the same time wait for each other, so together they never overspend.
//!
//! Budgets are per data set; a party is a label of its charges. Records are recognised by a keyed
//! [fingerprint](crate::fingerprint) of their content, whatever they are called. All charges of a data set are
//! composed with [`Composition`](organza_release::loss::Composition), whose documentation says when that is
//! valid, as losses between neighbours of one kind: those of its first charge, unless the budget says
//! otherwise. Between exchanged records a loss for added and removed ones counts twice
//! ([`Mechanism::for_exchanged_records`](organza_release::loss::Mechanism::for_exchanged_records)); the other way
//! there is none. A data set without a budget gets the claim of its first charge as its budget: every further
//! release is refused until someone raises it on purpose. A checksum over everything that the ledger says is
//! compared whenever it is opened.
//!
//! ```
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("ledger.sqlite");
//! use organza_curator::ledger::{Account, Charge, Ledger};
//! use organza_release::Neighbours;
//! use organza_release::loss::{Mechanism, gaussian_mu};
//!
//! let mut ledger = Ledger::open(&path)?;
//! let account = Account::new("admissions-2026", "north");
//! ledger.set_budget(&account, 1.0, 1e-6, None)?;
//! let charge = Charge {
//!     mechanism: Mechanism::Gaussian { mu: gaussian_mu(0.8, 1e-6)? },
//!     total_variation: 0.0,
//!     neighbours: Some(Neighbours::Substitute),
//!     claimed_epsilon: 0.8,
//!     claimed_delta: 1e-6,
//!     description: "y ~ x1 + x2".to_owned(),
//! };
//! let outcome = ledger.charge(&account, &charge)?; // first this, then the release is written
//! ledger.mark_published(outcome.id, "north.release.json")?;
//! assert!(ledger.charge(&account, &charge).is_err()); // twice does not fit
//! # Ok::<(), organza_curator::ledger::LedgerError>(())
//! ```

mod account;
mod charge;
#[cfg(test)]
mod composition_tests;
mod error;
mod file;
mod spending;
mod store;

pub use account::{Account, AccountSummary, Budget, Preview, Spent};
pub use charge::{Charge, ChargeId, ChargeOutcome, ChargeRecord, Publication};
pub use error::LedgerError;

use crate::CuratorError;
use crate::fingerprint::{Fingerprint, FingerprintKey};
use error::explain;
use organza_release::Neighbours;
use rusqlite::{Connection, TransactionBehavior};
use spending::Spending;
use std::path::{Path, PathBuf};

/// An open ledger. One per thread or process; any number may share the file.
#[derive(Debug)]
pub struct Ledger {
    connection: Connection,
    path: PathBuf,
    /// Totals that no data set may exceed.
    limits: Vec<Budget>,
}

impl Ledger {
    /// Opens the ledger at `path`, and creates it if there is no such file.
    ///
    /// Refuses a file that is not a ledger, an empty or damaged one, and one that a newer version has
    /// written.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LedgerError> {
        Self::open_for(path, &Fingerprint::default())
    }

    /// Opens the ledger at `path` for reading, or returns `None` if there is no such file. Never creates one.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Option<Self>, LedgerError> {
        let path = path.as_ref().to_owned();
        if !file::exists(&path)? {
            return Ok(None);
        }
        Ok(Some(Self { connection: file::connect_to_read(&path)?, path, limits: vec![] }))
    }

    /// The same ledger, in which no data set may have or spend more than each of these totals.
    #[must_use]
    pub fn within(self, limits: impl IntoIterator<Item = Budget>) -> Self {
        Self { limits: limits.into_iter().collect(), ..self }
    }

    /// The key under which records are to be fingerprinted while they are read: that of the ledger at `path`, or a new one
    /// if there is none yet.
    pub fn fingerprint_key(path: impl AsRef<Path>) -> Result<FingerprintKey, CuratorError> {
        match Self::open_read_only(path)? {
            Some(ledger) => Ok(store::key(&ledger.connection).map_err(explain(&ledger.path))?),
            None => FingerprintKey::random(),
        }
    }

    /// Opens the ledger at `path` to charge records of this content; a new one gets the key of the fingerprint.
    pub fn open_for(path: impl AsRef<Path>, content: &Fingerprint) -> Result<Self, LedgerError> {
        let path = path.as_ref().to_owned();
        if !file::exists(&path)? {
            file::create(&path, content.key.as_ref())?;
        }
        Ok(Self { connection: file::connect(&path)?, path, limits: vec![] })
    }

    /// Sets the total budget of a data set, the first time or anew; it may be raised and lowered. `neighbours` says which
    /// tables are neighbours in its account; without it that stays as it is, or is left to the first charge.
    ///
    /// Lowering it below what is already spent is refused, with an error that says how much that is.
    pub fn set_budget(
        &mut self,
        account: &Account,
        epsilon: f64,
        delta: f64,
        neighbours: Option<Neighbours>,
    ) -> Result<(), LedgerError> {
        account.check()?;
        let budget = Budget { epsilon, delta };
        budget.check()?;
        let above = |limit: &&Budget| epsilon > limit.epsilon || delta > limit.delta;
        if let Some(limit) = self.limits.iter().find(above) {
            return Err(LedgerError::AboveLimit { dataset: account.dataset().to_owned(), limit: *limit });
        }
        self.write(|transaction, failed| {
            let relation = store::budget(transaction, account).map_err(failed)?.and_then(|(_, known)| known);
            let relation = neighbours.or(relation);
            let records = store::charges(transaction, account.dataset()).map_err(failed)?;
            let charges = records.iter().map(|record| &record.charge);
            let spending = Spending::of(charges, relation.unwrap_or(Neighbours::Substitute))?;
            if !spending.fits(budget)? {
                let spent = spending.spent(budget)?;
                return Err(LedgerError::BudgetBelowSpent {
                    dataset: account.dataset().to_owned(),
                    budget,
                    spent,
                });
            }
            store::write_budget(transaction, account, budget, relation).map_err(failed)
        })
    }

    /// Spends budget, durably, before anything is written; refuses a charge that does not fit and records
    /// nothing.
    ///
    /// The check and the record are one transaction that excludes all other writers, and when this returns
    /// the record is on the disk. Without a budget the charge's own claim becomes the budget, which the
    /// outcome says. Records that another data set of this ledger has charged are refused.
    pub fn charge(&mut self, account: &Account, charge: &Charge) -> Result<ChargeOutcome, LedgerError> {
        account.check()?;
        charge.check()?;
        let (path, limits) = (self.path.clone(), self.limits.clone());
        self.write(|transaction, failed| {
            recognise(transaction, account, &path)?;
            let (known, earlier) = history(transaction, account).map_err(failed)?;
            let (known, relation) = known.unzip();
            let Preview { budget, budget_would_be_set, spent_before, spent_after, neighbours, fits } =
                spending::preview(known, relation.flatten(), &earlier, charge)?;
            if !fits {
                let dataset = account.dataset().to_owned();
                return Err(LedgerError::OverBudget { dataset, budget, spent_before, spent_after });
            }
            for limit in limits {
                if !spending::preview(Some(limit), Some(neighbours), &earlier, charge)?.fits {
                    return Err(LedgerError::AboveLimit { dataset: account.dataset().to_owned(), limit });
                }
            }
            store::write_budget(transaction, account, budget, Some(neighbours)).map_err(failed)?;
            store::write_content(transaction, account).map_err(failed)?;
            let id = store::insert_charge(transaction, account, charge).map_err(failed)?;
            Ok(ChargeOutcome { id, budget_was_set: budget_would_be_set, spent: spent_after })
        })
    }

    /// Remembers the content of records that were charged before they could all be read. If another data set has charged
    /// them too an error says so; what was charged stays charged.
    pub fn note_content(&mut self, account: &Account) -> Result<(), LedgerError> {
        let path = self.path.clone();
        self.write(|transaction, failed| {
            recognise(transaction, account, &path)?;
            store::write_content(transaction, account).map_err(failed)
        })
    }

    /// Runs a transaction that excludes all other writers, and seals what it wrote.
    fn write<T>(
        &mut self,
        statements: impl FnOnce(&Connection, &dyn Fn(rusqlite::Error) -> LedgerError) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        let failed = explain(&self.path);
        let behaviour = TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(behaviour).map_err(&failed)?;
        let result = statements(&transaction, &failed)?;
        store::seal(&transaction).map_err(&failed)?;
        transaction.commit().map_err(&failed)?;
        Ok(result)
    }

    /// Notes where the release that was charged has been written. Saying the same twice is fine.
    pub fn mark_published(&mut self, id: ChargeId, output: &str) -> Result<(), LedgerError> {
        let path = self.path.clone();
        self.write(|transaction, failed| match store::output(transaction, id).map_err(failed)? {
            None => Err(LedgerError::UnknownCharge { id, path }),
            Some(Some(earlier)) if earlier != output => {
                Err(LedgerError::AlreadyPublished { id, output: earlier })
            }
            Some(Some(_)) => Ok(()),
            Some(None) => store::write_output(transaction, id, output).map_err(failed),
        })
    }

    /// What a charge would do, without recording anything: for dry runs.
    ///
    /// When there is no ledger yet ([`Ledger::open_read_only`] returned `None`), use [`Preview::of_first`].
    pub fn preview(&self, account: &Account, charge: &Charge) -> Result<Preview, LedgerError> {
        account.check()?;
        charge.check()?;
        let failed = explain(&self.path);
        let transaction = self.connection.unchecked_transaction().map_err(&failed)?; // one consistent state
        recognise(&transaction, account, &self.path)?;
        let (known, earlier) = history(&transaction, account).map_err(&failed)?;
        let (budget, relation) = known.unzip();
        spending::preview(budget, relation.flatten(), &earlier, charge)
    }

    /// All data sets with their budgets and what is spent of them, in the order of their names.
    pub fn accounts(&self) -> Result<Vec<AccountSummary>, LedgerError> {
        let failed = explain(&self.path);
        let transaction = self.connection.unchecked_transaction().map_err(&failed)?;
        let summary = |dataset: String| {
            let account = Account::new(&dataset, "");
            let (known, records) = history(&transaction, &account).map_err(&failed)?;
            let Some((budget, neighbours)) = known else { return Ok(None) };
            let charges = records.iter().map(|record| &record.charge);
            let spent = Spending::of(charges, neighbours.unwrap_or(Neighbours::Substitute))?.spent(budget)?;
            let published = records.iter().filter(|record| record.published.is_some()).count();
            let party = records.last().map_or("", |record| &record.party);
            let account = Account::new(&dataset, party);
            Ok(Some(AccountSummary { account, neighbours, budget, spent, charges: records.len(), published }))
        };
        let datasets = store::datasets(&transaction).map_err(&failed)?;
        datasets.into_iter().filter_map(|dataset| summary(dataset).transpose()).collect()
    }

    /// All charges of a data set, the oldest first; none for one that the ledger does not know.
    pub fn charges(&self, account: &Account) -> Result<Vec<ChargeRecord>, LedgerError> {
        store::charges(&self.connection, account.dataset()).map_err(explain(&self.path))
    }
}

type History = (Option<(Budget, Option<Neighbours>)>, Vec<ChargeRecord>);

/// The budget and the charges of a data set.
fn history(connection: &Connection, account: &Account) -> rusqlite::Result<History> {
    Ok((store::budget(connection, account)?, store::charges(connection, account.dataset())?))
}

/// Refuses records that are known under another name.
fn recognise(connection: &Connection, account: &Account, path: &Path) -> Result<(), LedgerError> {
    let failed = explain(path);
    let Some(key) = &account.content().key else { return Ok(()) };
    if store::key(connection).map_err(&failed)? != *key {
        return Err(LedgerError::OtherKey { path: path.to_owned() });
    }
    match store::same_content(connection, account).map_err(&failed)? {
        Some(known) => Err(LedgerError::KnownContent { known }),
        None => Ok(()),
    }
}
