//! A table that is read beside a ledger: how it is read, who holds it, and who pays.

use std::path::{Path, PathBuf};

use clap::Args;
use organza_curator::ledger::{Account, Charge, ChargeOutcome, Ledger, Preview};
use organza_curator::table::{Input, ReadOptions};

use super::failure::Failure;
use super::release_choices::MissingName;
use super::terminal::{say, warn};

#[derive(Args, Debug)]
pub struct BesideTable {
    /// What to do with missing values
    #[arg(long, value_enum, default_value_t = MissingName::Error)]
    missing: MissingName,
    /// The CSV file has no header; its columns are c1, c2, ...
    #[arg(long)]
    no_header: bool,
    /// Field separator of the CSV file
    #[arg(long, default_value_t = ',')]
    delimiter: char,
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
        match table {
            None => Err(Failure::bad_input("TABLE is needed")),
            Some(path) if path.as_os_str() == "-" => Ok(Input::Standard),
            Some(path) => Ok(Input::File(path.to_path_buf())),
        }
    }

    /// How it is read.
    pub fn options(&self) -> Result<ReadOptions, Failure> {
        let delimiter = u8::try_from(self.delimiter).map_err(|_| {
            Failure::bad_input(format!("--delimiter: {:?} is not a single byte", self.delimiter))
        })?;
        let missing = self.missing.into();
        Ok(ReadOptions { header: !self.no_header, delimiter, missing, ..ReadOptions::default() })
    }

    /// Name of the table without folders and without `.csv`, `.csv.gz` or `.parquet`.
    fn table_name(table: Option<&Path>) -> Option<String> {
        let name = table.filter(|path| path.as_os_str() != "-")?.file_name()?.to_string_lossy().into_owned();
        Some(name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(&name).to_string())
    }

    /// The ledger and the account in it.
    fn account(&self, table: Option<&Path>) -> Result<Option<(PathBuf, Account)>, Failure> {
        if self.no_ledger {
            return Ok(None);
        }
        let beside = table.filter(|path| path.as_os_str() != "-").map(|path| {
            let mut name = path.as_os_str().to_os_string();
            name.push(".ledger");
            PathBuf::from(name)
        });
        let unnamed = || {
            Failure::bad_input(
                "--ledger, --dataset and --party must be given when reading standard input (or --no-ledger)",
            )
        };
        let path = self.ledger.clone().or(beside).ok_or_else(unnamed)?;
        let named = |given: &Option<String>| given.clone().or_else(|| Self::table_name(table));
        let dataset = named(&self.dataset).ok_or_else(unnamed)?;
        let party = named(&self.party).ok_or_else(unnamed)?;
        Ok(Some((path, Account { dataset, party })))
    }

    /// What the ledger would hold afterwards; nothing if no table or ledger was named.
    pub fn preview(&self, table: Option<&Path>, charge: &Charge) -> Result<Option<Preview>, Failure> {
        if table.is_none() && self.ledger.is_none() {
            return Ok(None);
        }
        let Ok(Some((path, account))) = self.account(table) else { return Ok(None) };
        let preview = match Ledger::open_read_only(&path)? {
            Some(ledger) => ledger.preview(&account, charge),
            None => Preview::of_first(charge),
        };
        Ok(Some(preview?))
    }

    /// Charges the ledger.
    pub fn charge(&self, table: Option<&Path>, charge: &Charge) -> Result<Paid, Failure> {
        let Some((path, account)) = self.account(table)? else {
            warn("no ledger is charged: keep track of the loss of this data set yourself");
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
        let set = if outcome.budget_was_set {
            format!(
                "; no budget was set, so it is now this run's own loss and is spent. To allow more: organza ledger \
                 budget {} --dataset {} --party {} --epsilon E --delta D",
                path.display(),
                account.dataset,
                account.party
            )
        } else {
            String::new()
        };
        say(&format!("{}: spent {} of {account}{set}", path.display(), outcome.spent));
    }
}
