//! A table that is read beside a ledger: how it is read, who holds it, and who pays.
//!
//! What is not said follows from the table's name and place, for a program as for the command.

use std::path::{Path, PathBuf};

use organza_curator::CuratorError;
use organza_curator::job::{Job, charge};
use organza_curator::ledger::{Account, Charge, ChargeOutcome, Ledger, Preview};
use organza_curator::policy::{Subject, check_guarantee};
use organza_curator::table::{Counts, Input, ReadOptions};

use crate::Error;

/// The ledger of a folder.
pub const LEDGER: &str = "organza.ledger";

/// A table, its holder and its account.
#[derive(Debug, Clone)]
pub struct BesideTable {
    /// The table.
    pub input: Input,
    /// How it is read.
    pub options: ReadOptions,
    /// Name of the data holder; the table's name without it.
    pub party: Option<String>,
    /// Who keeps the budget.
    pub ledger: LedgerChoice,
    /// Name of the data set in the ledger; the table's name without it.
    pub dataset: Option<String>,
    /// Whether a guarantee that is hardly one is meant.
    pub allow_weak_guarantee: bool,
}

/// Which ledger pays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum LedgerChoice {
    /// That of the site or of the table's folder: [`usual_ledger`].
    #[default]
    Usual,
    /// This file.
    File(PathBuf),
    /// None: losses are kept elsewhere.
    None,
}

/// The table of this name; `-` is standard input.
pub fn input(table: &Path) -> Result<Input, Error> {
    if table.is_dir() {
        return Err(Error::unusable(table, "this is a folder; name the table in it"));
    }
    Ok(if table.as_os_str() == "-" { Input::Standard } else { Input::File(table.to_path_buf()) })
}

/// Name of the table without folders and without `.csv`, `.csv.gz` or `.parquet`.
pub fn table_name(table: &Path) -> Option<String> {
    let name = table.file_name()?.to_string_lossy().into_owned();
    Some(name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(&name).to_string())
}

/// The ledger unless another is named: that of the site (`ORGANZA_LEDGER`), or the one in the table's folder, which all
/// tables there share. A table's own ledger of former times is still used where there is one.
pub fn usual_ledger(table: Option<&Path>) -> Option<PathBuf> {
    if let Some(site) = std::env::var_os("ORGANZA_LEDGER").filter(|path| !path.is_empty()) {
        return Some(PathBuf::from(site));
    }
    let table = table?;
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

impl BesideTable {
    /// A table that is read and paid for in the usual way.
    pub fn new(table: impl AsRef<Path>) -> Result<Self, Error> {
        Ok(Self {
            input: input(table.as_ref())?,
            options: ReadOptions::default(),
            party: None,
            ledger: LedgerChoice::Usual,
            dataset: None,
            allow_weak_guarantee: false,
        })
    }

    /// The table if it is a file.
    pub fn file(&self) -> Option<&Path> {
        match &self.input {
            Input::File(path) => Some(path),
            Input::Standard => None,
        }
    }

    /// How it is read so that the ledger recognises it.
    pub fn recognising(&self) -> Result<ReadOptions, Error> {
        let fingerprint = self.account()?.map(|(path, _)| Ledger::fingerprint_key(path)).transpose();
        Ok(ReadOptions { fingerprint: fingerprint?, ..self.options.clone() })
    }

    /// The data holder.
    pub fn party(&self) -> Result<String, Error> {
        let party = self.party.clone().or_else(|| table_name(self.file()?));
        let reason = "name the data holder when reading standard input";
        Ok(party.ok_or_else(|| CuratorError::setting("party", reason))?)
    }

    /// The ledger and the account in it; none if losses are kept elsewhere.
    pub fn account(&self) -> Result<Option<(PathBuf, Account)>, Error> {
        let path = match &self.ledger {
            LedgerChoice::None => return Ok(None),
            LedgerChoice::File(path) => Some(path.clone()),
            LedgerChoice::Usual => usual_ledger(self.file()),
        };
        let unnamed = |field| {
            let reason = "must be given when reading standard input (or the setting `ledger = none`)";
            CuratorError::setting(field, reason)
        };
        let path = path.ok_or_else(|| unnamed("ledger"))?;
        let dataset = self.dataset.clone().or_else(|| table_name(self.file()?));
        let dataset = dataset.ok_or_else(|| unnamed("dataset"))?;
        Ok(Some((path, Account::new(dataset, self.party()?))))
    }

    /// A job on the whole table.
    pub fn job(&self, output: impl Into<PathBuf>) -> Result<Job, Error> {
        Ok(Job {
            input: self.input.clone(),
            options: self.options.clone(),
            party: self.party()?,
            output: output.into(),
            overwrite: false,
            allow_weak_guarantee: self.allow_weak_guarantee,
            batch_rows: None,
            ledger: self.account()?,
        })
    }

    /// What the ledger would hold after a charge; nothing if none is named.
    pub fn preview(&self, charge: &Charge) -> Result<Option<Preview>, Error> {
        let Ok(Some((path, account))) = self.account() else { return Ok(None) };
        preview(&path, &account, charge).map(Some)
    }

    /// Charges the ledger, if there is one, for what is computed from records that have been read.
    pub fn charge(&self, subject: &Subject, cost: &Charge, counts: &Counts) -> Result<Option<Paid>, Error> {
        if !self.allow_weak_guarantee {
            check_guarantee(cost, counts.records)?;
        }
        let account = self.account()?;
        let named = account.as_ref().map(|(path, account)| (path.as_path(), account));
        let charged = charge(subject, cost, named, counts.content.clone())?;
        let paid = |((ledger, outcome), (path, account))| Paid { ledger, path, account, outcome };
        Ok(charged.zip(account).map(paid))
    }
}

/// What a ledger would hold after a charge.
pub fn preview(path: &Path, account: &Account, charge: &Charge) -> Result<Preview, Error> {
    let ledger = Ledger::open_read_only(path).map_err(CuratorError::from)?;
    let preview = ledger.map_or_else(|| Preview::of_first(charge), |ledger| ledger.preview(account, charge));
    Ok(preview.map_err(CuratorError::from)?)
}

/// A charge that was made.
pub struct Paid {
    ledger: Ledger,
    /// The ledger's file.
    pub path: PathBuf,
    /// The account in it.
    pub account: Account,
    /// What the ledger says.
    pub outcome: ChargeOutcome,
}

impl Paid {
    /// Notes where the result is.
    pub fn mark_published(&mut self, output: &Path) -> Result<(), Error> {
        let noted = self.ledger.mark_published(self.outcome.id, &output.display().to_string());
        Ok(noted.map_err(CuratorError::from)?)
    }
}
