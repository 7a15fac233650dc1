//! From the arguments of `organza release` to a job: the table, the output, the ledger.

use std::path::PathBuf;

use organza_curator::Publishable;
use organza_curator::job::Job;
use organza_curator::ledger::{Account, Charge, Ledger, Preview};
use organza_curator::table::{Input, ReadOptions};

use super::failure::{Failure, Status};
use super::release::ReleaseArguments;
use super::release_report::{Loss, report};
use super::terminal::{Bar, warn};

impl ReleaseArguments {
    /// Makes the release and tells what was done.
    pub(super) fn carry_out<P: Publishable>(&self, plan: &P, loss: &Loss) -> Result<Status, Failure> {
        let job = self.job()?;
        if job.ledger.is_none() {
            warn("no ledger is charged: keep track of the loss of this data set yourself");
        }
        let bar = Bar::new(self.json);
        let outcome = job.run(plan, &bar);
        bar.finish();
        report(&job, &outcome?, loss, self.json)
    }

    fn input(&self) -> Option<Input> {
        self.table
            .as_ref()
            .map(|path| if path.as_os_str() == "-" { Input::Standard } else { Input::File(path.clone()) })
    }

    /// Name of the table without folders and without `.csv`, `.csv.gz` or `.parquet`.
    fn table_name(&self) -> Option<String> {
        let Some(Input::File(path)) = self.input() else { return None };
        let name = path.file_name()?.to_string_lossy().into_owned();
        Some(name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(&name).to_string())
    }

    fn party(&self) -> Result<String, Failure> {
        let party = self.party.clone().or_else(|| self.table_name());
        party.ok_or_else(|| Failure::bad_input("--party: name the data holder when reading standard input"))
    }

    fn ledger(&self) -> Result<Option<(PathBuf, Account)>, Failure> {
        if self.no_ledger {
            return Ok(None);
        }
        let beside_table = match self.input() {
            Some(Input::File(path)) => {
                let mut name = path.into_os_string();
                name.push(".ledger");
                Some(PathBuf::from(name))
            }
            _ => None,
        };
        let unnamed = "--ledger and --dataset must be given when reading standard input (or --no-ledger)";
        let path = self.ledger.clone().or(beside_table).ok_or_else(|| Failure::bad_input(unnamed))?;
        let dataset = self.dataset.clone().or_else(|| self.table_name());
        let dataset = dataset.ok_or_else(|| Failure::bad_input(unnamed))?;
        Ok(Some((path, Account { dataset, party: self.party()? })))
    }

    fn job(&self) -> Result<Job, Failure> {
        let missing_argument = || Failure::bad_input("TABLE and --output are needed");
        let defaults = ReadOptions::default();
        let delimiter = u8::try_from(self.delimiter).map_err(|_| {
            Failure::bad_input(format!("--delimiter: {:?} is not a single byte", self.delimiter))
        })?;
        Ok(Job {
            input: self.input().ok_or_else(missing_argument)?,
            options: ReadOptions {
                header: !self.no_header,
                delimiter,
                missing: self.missing.into(),
                threads: self.threads.unwrap_or(defaults.threads).max(1),
            },
            party: self.party()?,
            output: self.output.clone().ok_or_else(missing_argument)?,
            overwrite: self.force,
            batch_rows: self.batch_records,
            ledger: self.ledger()?,
        })
    }

    /// What the ledger would hold afterwards; nothing if no table or ledger was named.
    pub(super) fn preview(&self, charge: &Charge) -> Result<Option<Preview>, Failure> {
        if self.no_ledger || (self.table.is_none() && self.ledger.is_none()) {
            return Ok(None);
        }
        match self.ledger() {
            Ok(Some((path, account))) => {
                let preview = match Ledger::open_read_only(&path)? {
                    Some(ledger) => ledger.preview(&account, charge),
                    None => Preview::of_first(charge),
                };
                Ok(Some(preview?))
            }
            _ => Ok(None),
        }
    }
}
