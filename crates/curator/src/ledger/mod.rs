//! The ledger: how much privacy each party has spent on each data set, in one SQLite file.
//!
//! A release is *charged before anything is written*: [`Ledger::charge`] checks the budget and records the
//! charge in one durable transaction, then the release is written, then [`Ledger::mark_published`] notes
//! where. A crash in between loses budget, never privacy: a charge counts whether or not it was published.
//! Two processes that charge at the same time wait for each other, so together they never overspend.
//!
//! Budgets are per [`Account`], a data set in the hands of a party. All its charges are composed with
//! [`Composition`](organza_release::loss::Composition), whose documentation says when that is valid. An
//! account without a budget gets the claim of its first charge as its budget: every further release is
//! refused until someone raises it on purpose.
//!
//! ```
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("ledger.sqlite");
//! use organza_curator::ledger::{Account, Charge, Ledger};
//! use organza_release::loss::{Mechanism, gaussian_mu};
//!
//! let mut ledger = Ledger::open(&path)?;
//! let account = Account::new("admissions-2026", "north");
//! ledger.set_budget(&account, 1.0, 1e-6)?;
//! let charge = Charge {
//!     mechanism: Mechanism::Gaussian { mu: gaussian_mu(0.8, 1e-6)? },
//!     total_variation: 0.0,
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
mod error;
mod file;
mod spending;
mod store;

pub use account::{Account, AccountSummary, Budget, Preview, Spent};
pub use charge::{Charge, ChargeId, ChargeOutcome, ChargeRecord, Publication};
pub use error::LedgerError;

use error::explain;
use rusqlite::{Connection, TransactionBehavior};
use spending::Spending;
use std::path::{Path, PathBuf};

/// An open ledger. One per thread or process; any number may share the file.
#[derive(Debug)]
pub struct Ledger {
    connection: Connection,
    path: PathBuf,
}

impl Ledger {
    /// Opens the ledger at `path`, and creates it if there is no such file.
    ///
    /// Refuses a file that is not a ledger, an empty or damaged one, and one that a newer version has
    /// written.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LedgerError> {
        let path = path.as_ref().to_owned();
        if !file::exists(&path)? {
            file::create(&path)?;
        }
        Ok(Self { connection: file::connect(&path)?, path })
    }

    /// Opens the ledger at `path` for reading, or returns `None` if there is no such file. Never creates one.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Option<Self>, LedgerError> {
        let path = path.as_ref().to_owned();
        if !file::exists(&path)? {
            return Ok(None);
        }
        Ok(Some(Self { connection: file::connect_to_read(&path)?, path }))
    }

    /// Sets the total budget of an account, the first time or anew; it may be raised and lowered.
    ///
    /// Lowering it below what is already spent is refused, with an error that says how much that is.
    pub fn set_budget(&mut self, account: &Account, epsilon: f64, delta: f64) -> Result<(), LedgerError> {
        account.check()?;
        let budget = Budget { epsilon, delta };
        budget.check()?;
        let failed = explain(&self.path);
        let behaviour = TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(behaviour).map_err(&failed)?;
        let spending = Spending::of(&store::charges(&transaction, account).map_err(&failed)?)?;
        if !spending.fits(budget)? {
            let spent = spending.spent(budget)?;
            return Err(LedgerError::BudgetBelowSpent { account: account.clone(), budget, spent });
        }
        store::write_budget(&transaction, account, budget).map_err(&failed)?;
        transaction.commit().map_err(&failed)
    }

    /// Spends budget, durably, before anything is written; refuses a charge that does not fit and records
    /// nothing.
    ///
    /// The check and the record are one transaction that excludes all other writers, and when this returns
    /// the record is on the disk. Without a budget the charge's own claim becomes the budget, which the
    /// outcome says.
    pub fn charge(&mut self, account: &Account, charge: &Charge) -> Result<ChargeOutcome, LedgerError> {
        account.check()?;
        charge.check()?;
        let failed = explain(&self.path);
        let behaviour = TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(behaviour).map_err(&failed)?;
        let known = store::budget(&transaction, account).map_err(&failed)?;
        let earlier = store::charges(&transaction, account).map_err(&failed)?;
        let Preview { budget, budget_would_be_set, spent_before, spent_after, fits } =
            spending::preview(known, &earlier, charge)?;
        if !fits {
            let account = account.clone();
            return Err(LedgerError::OverBudget { account, budget, spent_before, spent_after });
        }
        if budget_would_be_set {
            store::write_budget(&transaction, account, budget).map_err(&failed)?;
        }
        let id = store::insert_charge(&transaction, account, charge).map_err(&failed)?;
        transaction.commit().map_err(&failed)?;
        Ok(ChargeOutcome { id, budget_was_set: budget_would_be_set, spent: spent_after })
    }

    /// Notes where the release that was charged has been written. Saying the same twice is fine.
    pub fn mark_published(&mut self, id: ChargeId, output: &str) -> Result<(), LedgerError> {
        let failed = explain(&self.path);
        let behaviour = TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(behaviour).map_err(&failed)?;
        match store::output(&transaction, id).map_err(&failed)? {
            None => Err(LedgerError::UnknownCharge { id, path: self.path.clone() }),
            Some(Some(earlier)) if earlier != output => {
                Err(LedgerError::AlreadyPublished { id, output: earlier })
            }
            Some(Some(_)) => Ok(()),
            Some(None) => {
                store::write_output(&transaction, id, output).map_err(&failed)?;
                transaction.commit().map_err(&failed)
            }
        }
    }

    /// What a charge would do, without recording anything: for dry runs.
    ///
    /// When there is no ledger yet ([`Ledger::open_read_only`] returned `None`), use [`Preview::of_first`].
    pub fn preview(&self, account: &Account, charge: &Charge) -> Result<Preview, LedgerError> {
        account.check()?;
        charge.check()?;
        let failed = explain(&self.path);
        let transaction = self.connection.unchecked_transaction().map_err(&failed)?; // one consistent state
        let budget = store::budget(&transaction, account).map_err(&failed)?;
        let earlier = store::charges(&transaction, account).map_err(&failed)?;
        spending::preview(budget, &earlier, charge)
    }

    /// All accounts with their budgets and what is spent of them, in the order of their names.
    pub fn accounts(&self) -> Result<Vec<AccountSummary>, LedgerError> {
        let failed = explain(&self.path);
        let transaction = self.connection.unchecked_transaction().map_err(&failed)?;
        let budgets = store::budgets(&transaction).map_err(&failed)?;
        let summary = |(account, budget): (Account, Budget)| {
            let records = store::charges(&transaction, &account).map_err(&failed)?;
            let spent = Spending::of(&records)?.spent(budget)?;
            let published = records.iter().filter(|record| record.published.is_some()).count();
            Ok(AccountSummary { account, budget, spent, charges: records.len(), published })
        };
        budgets.into_iter().map(summary).collect()
    }

    /// All charges of an account, the oldest first; none for an account that the ledger does not know.
    pub fn charges(&self, account: &Account) -> Result<Vec<ChargeRecord>, LedgerError> {
        store::charges(&self.connection, account).map_err(explain(&self.path))
    }
}
