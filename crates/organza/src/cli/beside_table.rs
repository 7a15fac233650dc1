//! A table that is read beside a ledger: how it is read, who holds it, and who pays.

use std::path::{Path, PathBuf};

use clap::Args;
use organza_curator::job::{Job, charge};
use organza_curator::ledger::{Account, Charge, ChargeOutcome, Ledger, Preview};
use organza_curator::policy::{Subject, check_guarantee};
use organza_curator::table::{Counts, Input, ReadOptions};
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

/// The ledger unless another is named: that of the site (`ORGANZA_LEDGER`), or the one in the table's folder, which all
/// tables there share. A table's own ledger of former times is still used where there is one.
pub fn usual_ledger(table: Option<&Path>) -> Option<PathBuf> {
    if let Some(site) = std::env::var_os("ORGANZA_LEDGER").filter(|path| !path.is_empty()) {
        return Some(PathBuf::from(site));
    }
    let table = file(table)?;
    let mut own = table.as_os_str().to_os_string();
    own.push(".ledger");
    let own = PathBuf::from(own);
    if own.exists() {
        return Some(own);
    }
    // Behind a link lies the same table.
    let real = table.is_symlink().then(|| table.canonicalize().ok()).flatten();
    Some(real.as_deref().unwrap_or(table).parent().unwrap_or(Path::new("")).join(LEDGER))
}

/// The ledger of a folder.
pub const LEDGER: &str = "organza.ledger";

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

    /// How it is read so that the ledger recognises it.
    pub fn recognising(&self, table: Option<&Path>) -> Result<ReadOptions, Failure> {
        let account = self.account(table)?;
        let fingerprint = account.map(|(path, _)| Ledger::fingerprint_key(path)).transpose()?;
        Ok(ReadOptions { fingerprint, ..self.options() })
    }

    fn party(&self, table: Option<&Path>) -> Result<String, Failure> {
        let party = self.party.clone().or_else(|| table_name(table));
        party.ok_or_else(|| Failure::bad_input("--party: name the data holder when reading standard input"))
    }

    /// The ledger and the account in it.
    fn account(&self, table: Option<&Path>) -> Result<Option<(PathBuf, Account)>, Failure> {
        if self.no_ledger {
            return Ok(None);
        }
        let unnamed = "--ledger and --dataset must be given when reading standard input (or --no-ledger)";
        let path = self.ledger.clone().or_else(|| usual_ledger(table));
        let path = path.ok_or_else(|| Failure::bad_input(unnamed))?;
        let dataset = self.dataset.clone().or_else(|| table_name(table));
        let dataset = dataset.ok_or_else(|| Failure::bad_input(unnamed))?;
        Ok(Some((path, Account::new(dataset, self.party(table)?))))
    }

    /// A job on the whole table.
    pub fn job(&self, table: Option<&Path>, output: &Path, overwrite: bool) -> Result<Job, Failure> {
        Ok(Job {
            input: self.input(table)?,
            options: self.options(),
            party: self.party(table)?,
            output: output.to_path_buf(),
            overwrite,
            allow_weak_guarantee: self.allow_weak_guarantee,
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

    /// Charges the ledger for what is computed from records that have been read.
    pub fn charge(
        &self,
        table: Option<&Path>,
        subject: &Subject,
        cost: &Charge,
        counts: &Counts,
    ) -> Result<Paid, Failure> {
        if !self.allow_weak_guarantee {
            check_guarantee(cost, counts.records)?;
        }
        let account = self.account(table)?;
        let named = account.as_ref().map(|(path, account)| (path.as_path(), account));
        let Some((ledger, outcome)) = charge(subject, cost, named, counts.content.clone())? else {
            warn(NO_LEDGER);
            return Ok(Paid { made: None });
        };
        Ok(Paid { made: account.map(|(path, account)| (ledger, path, account, outcome)) })
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
         budget {} --dataset {} --epsilon E --delta D",
        shell_word(&path.display().to_string()),
        shell_word(account.dataset())
    )
}
