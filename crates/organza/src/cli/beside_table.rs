//! The arguments of a table that is read beside a ledger.

use std::path::{Path, PathBuf};

use clap::Args;
use organza::beside_table::{self, LedgerChoice};
use organza_curator::job::Job;
use organza_curator::ledger::{Account, Charge, ChargeOutcome, Preview};
use organza_curator::table::{Input, ReadOptions};
use organza_release::shell_word;

use super::failure::Failure;
use super::read_arguments::ReadArguments;

/// Said when nobody keeps the budget.
pub const NO_LEDGER: &str = "no ledger is charged: keep track of the loss of this data set yourself";

#[derive(Args, Debug)]
pub struct BesideTable {
    #[command(flatten)]
    pub read: ReadArguments,
    /// Name of the data holder, a label; the table's file name by default
    #[arg(long)]
    party: Option<String>,
    /// File that keeps budgets; by default ORGANZA_LEDGER, or organza.ledger in the table's folder
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    /// Do not charge any ledger (keep the budget yourself)
    #[arg(long, conflicts_with = "ledger")]
    pub no_ledger: bool,
    /// Name of the data set in the ledger; the table's file name by default
    #[arg(long)]
    dataset: Option<String>,
    /// Publish although epsilon is above 20, or delta above one over the number of records
    #[arg(long)]
    pub allow_weak_guarantee: bool,
}

impl BesideTable {
    /// The table with everything that goes with it.
    pub fn on(&self, table: Option<&Path>) -> Result<beside_table::BesideTable, Failure> {
        let table = table.ok_or_else(|| Failure::bad_input("TABLE is needed"))?;
        Ok(self.with(beside_table::input(table)?))
    }

    /// The same for a plan that may have no table.
    pub fn on_any(&self, table: Option<&Path>) -> Result<beside_table::BesideTable, Failure> {
        Ok(self.with(table.map_or(Ok(Input::Standard), beside_table::input)?))
    }

    fn with(&self, input: Input) -> beside_table::BesideTable {
        let named = self.ledger.clone().map_or(LedgerChoice::Usual, LedgerChoice::File);
        beside_table::BesideTable {
            input,
            options: self.options(),
            party: self.party.clone(),
            ledger: if self.no_ledger { LedgerChoice::None } else { named },
            dataset: self.dataset.clone(),
            allow_weak_guarantee: self.allow_weak_guarantee,
        }
    }

    /// How it is read.
    pub fn options(&self) -> ReadOptions {
        self.read.options()
    }

    /// A job on the whole table.
    pub fn job(&self, table: Option<&Path>, output: &Path, overwrite: bool) -> Result<Job, Failure> {
        Ok(Job { overwrite, ..self.on(table)?.job(output)? })
    }

    /// What the ledger would hold afterwards; nothing if no table or ledger was named.
    pub fn preview(&self, table: Option<&Path>, charge: &Charge) -> Result<Option<Preview>, Failure> {
        if table.is_none() && self.ledger.is_none() {
            return Ok(None);
        }
        Ok(self.on_any(table)?.preview(charge)?)
    }
}

/// What was spent on a run or release, and how to allow more if it set the budget.
pub fn spent(path: &Path, account: &Account, outcome: &ChargeOutcome, what: &str) -> String {
    let text = format!("{}: spent {} of {account}", path.display(), outcome.spent);
    if !outcome.budget_was_set {
        return text;
    }
    format!(
        "{text}; no budget was set, so it is now this {what}'s own loss and is spent. To allow more: organza ledger \
         budget {} --dataset {} --epsilon E --delta D",
        shell_word(&path.display().to_string()),
        shell_word(account.dataset())
    )
}
