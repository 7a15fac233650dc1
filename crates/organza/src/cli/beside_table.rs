//! A table that is read beside a ledger: how it is read, who holds it, and who pays.

use std::path::{Path, PathBuf};

use clap::Args;
use organza_curator::job::Job;
use organza_curator::ledger::{Account, Charge, ChargeOutcome, Ledger, Preview};
use organza_curator::table::{Input, ReadOptions};
use organza_release::shell_word;

use super::failure::Failure;
use super::read_arguments::ReadArguments;
use super::terminal::{say, warn};

/// Said when nobody keeps the budget.
pub const NO_LEDGER: &str = "no ledger is charged: keep track of the loss of this data set yourself";

/// The table that a person names; `-` is standard input.
pub fn input(table: &Path) -> Result<Input, Failure> {
    if table.is_dir() {
        let text = format!("{}: this is a folder; name the table in it", table.display());
        return Err(Failure::bad_input(text));
    }
    Ok(if table.as_os_str() == "-" { Input::Standard } else { Input::File(table.to_path_buf()) })
}

/// A table that is a file.
fn file(table: Option<&Path>) -> Option<&Path> {
    table.filter(|path| path.as_os_str() != "-")
}

/// Name of the table without folders and without `.csv`, `.csv.gz` or `.parquet`.
pub fn table_name(table: Option<&Path>) -> Option<String> {
    let name = file(table)?.file_name()?.to_string_lossy().into_owned();
    Some(name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(&name).to_string())
}

/// The ledger of a table unless another is named.
pub fn ledger_beside(table: Option<&Path>) -> Option<PathBuf> {
    let mut name = file(table)?.as_os_str().to_os_string();
    name.push(".ledger");
    Some(PathBuf::from(name))
}

/// What a ledger would hold after a charge.
pub fn preview(path: &Path, account: &Account, charge: &Charge) -> Result<Preview, Failure> {
    Ok(match Ledger::open_read_only(path)? {
        Some(ledger) => ledger.preview(account, charge),
        None => Preview::of_first(charge),
    }?)
}

#[derive(Args, Debug)]
pub struct BesideTable {
    #[command(flatten)]
    read: ReadArguments,
    /// Name of the data holder; the table's file name by default
    #[arg(long)]
    party: Option<String>,
    /// File that keeps the budget; TABLE.ledger by default
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    /// Do not charge any ledger (keep the budget yourself)
    #[arg(long, conflicts_with = "ledger")]
    no_ledger: bool,
    /// Name of the data set in the ledger; the table's file name by default
    #[arg(long)]
    dataset: Option<String>,
}

/// A charge that was made, or none if losses are kept elsewhere.
pub struct Paid {
    made: Option<(Ledger, PathBuf, Account, ChargeOutcome)>,
}

impl BesideTable {
    /// The table.
    pub fn input(&self, table: Option<&Path>) -> Result<Input, Failure> {
        input(table.ok_or_else(|| Failure::bad_input("TABLE is needed"))?)
    }

    /// How it is read.
    pub fn options(&self) -> ReadOptions {
        self.read.options()
    }

    /// The ledger and the account in it.
    fn account(&self, table: Option<&Path>) -> Result<Option<(PathBuf, Account)>, Failure> {
        if self.no_ledger {
            return Ok(None);
        }
        let unnamed = || {
            Failure::bad_input(
                "--ledger, --dataset and --party must be given when reading standard input (or --no-ledger)",
            )
        };
        let path = self.ledger.clone().or_else(|| ledger_beside(table)).ok_or_else(unnamed)?;
        let named = |given: &Option<String>| given.clone().or_else(|| table_name(table));
        let dataset = named(&self.dataset).ok_or_else(unnamed)?;
        let party = named(&self.party).ok_or_else(unnamed)?;
        Ok(Some((path, Account { dataset, party })))
    }

    /// A job on the whole table.
    pub fn job(&self, table: Option<&Path>, output: &Path, overwrite: bool) -> Result<Job, Failure> {
        let unnamed = || Failure::bad_input("--party: name the data holder when reading standard input");
        Ok(Job {
            input: self.input(table)?,
            options: self.options(),
            party: self.party.clone().or_else(|| table_name(table)).ok_or_else(unnamed)?,
            output: output.to_path_buf(),
            overwrite,
            batch_rows: None,
            ledger: self.account(table)?,
        })
    }

    /// What the ledger would hold afterwards; nothing if no table or ledger was named.
    pub fn preview(&self, table: Option<&Path>, charge: &Charge) -> Result<Option<Preview>, Failure> {
        if table.is_none() && self.ledger.is_none() {
            return Ok(None);
        }
        let Ok(Some((path, account))) = self.account(table) else { return Ok(None) };
        preview(&path, &account, charge).map(Some)
    }

    /// Charges the ledger.
    pub fn charge(&self, table: Option<&Path>, charge: &Charge) -> Result<Paid, Failure> {
        let Some((path, account)) = self.account(table)? else {
            warn(NO_LEDGER);
            return Ok(Paid { made: None });
        };
        let mut ledger = Ledger::open(&path)?;
        let outcome = ledger.charge(&account, charge)?;
        Ok(Paid { made: Some((ledger, path, account, outcome)) })
    }
}

impl Paid {
    /// What the ledger says.
    pub fn outcome(&self) -> Option<&ChargeOutcome> {
        self.made.as_ref().map(|(.., outcome)| outcome)
    }

    /// Notes where the result is.
    pub fn mark_published(&mut self, output: &Path) -> Result<(), Failure> {
        if let Some((ledger, _, _, outcome)) = &mut self.made {
            ledger.mark_published(outcome.id, &output.display().to_string())?;
        }
        Ok(())
    }

    /// Tells a person what was spent.
    pub fn say(&self) {
        let Some((_, path, account, outcome)) = &self.made else { return };
        say(&spent(path, account, outcome, "run"));
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
         budget {} --dataset {} --party {} --epsilon E --delta D",
        shell_word(&path.display().to_string()),
        shell_word(&account.dataset),
        shell_word(&account.party)
    )
}
