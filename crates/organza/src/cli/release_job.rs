//! From the arguments of `organza release` to a job: the table, the output, the ledger.

use std::path::PathBuf;

use organza_curator::Publishable;
use organza_curator::job::Job;
use organza_curator::ledger::{Account, Charge, Preview};
use organza_curator::measure::plan_for;
use organza_curator::mechanism::{Plan, Request};
use organza_curator::table::{Input, ReadOptions, Reading};

use super::beside_table::{NO_LEDGER, input, ledger_beside, preview, table_name};
use super::failure::{Failure, Status};
use super::release::ReleaseArguments;
use super::release_report::{Loss, report};
use super::terminal::{Bar, warn};

impl ReleaseArguments {
    /// Makes the release and tells what was done.
    pub(super) fn carry_out<P: Publishable>(&self, plan: &P, loss: &Loss) -> Result<Status, Failure> {
        let job = self.job()?;
        if job.ledger.is_none() {
            warn(NO_LEDGER);
        }
        let bar = Bar::new(self.json);
        let outcome = job.run(plan, &bar);
        bar.finish();
        report(&job, &outcome?, loss, self.json)
    }

    /// The plan; the table's records are counted if that moves the radius, but not for a dry run.
    pub(super) fn plan(&self, request: &Request) -> Result<Plan, Failure> {
        let Some(table) = self.table.as_deref().filter(|_| !self.dry_run) else {
            return Ok(Plan::new(request)?);
        };
        let bar = Bar::new(self.json);
        let plan = if self.check {
            let (input, options) = (input(table)?, self.read.options());
            plan_for(request, &Reading { input: &input, options: &options, progress: &bar })
        } else {
            self.job()?.plan(request, &bar)
        };
        bar.finish();
        Ok(plan?)
    }

    fn party(&self) -> Result<String, Failure> {
        let party = self.party.clone().or_else(|| table_name(self.table.as_deref()));
        party.ok_or_else(|| Failure::bad_input("--party: name the data holder when reading standard input"))
    }

    fn ledger(&self) -> Result<Option<(PathBuf, Account)>, Failure> {
        if self.no_ledger {
            return Ok(None);
        }
        let unnamed = "--ledger and --dataset must be given when reading standard input (or --no-ledger)";
        let table = self.table.as_deref();
        let path = self.ledger.clone().or_else(|| ledger_beside(table));
        let path = path.ok_or_else(|| Failure::bad_input(unnamed))?;
        let dataset = self.dataset.clone().or_else(|| table_name(table));
        let dataset = dataset.ok_or_else(|| Failure::bad_input(unnamed))?;
        Ok(Some((path, Account { dataset, party: self.party()? })))
    }

    fn job(&self) -> Result<Job, Failure> {
        let missing_argument = || Failure::bad_input("TABLE and --output are needed");
        let options = self.read.options();
        Ok(Job {
            input: input(self.table.as_deref().ok_or_else(missing_argument)?)?,
            options: ReadOptions { threads: self.threads.unwrap_or(options.threads).max(1), ..options },
            party: self.party()?,
            output: self.output.clone().ok_or_else(missing_argument)?,
            overwrite: self.force,
            batch_rows: self.batch_records,
            ledger: self.ledger()?,
        })
    }

    /// Whether the table, if it is at hand, has the columns that a plan needs. Nothing but its header is read.
    pub(super) fn check_columns<P: Publishable>(&self, plan: &P) -> Result<(), Failure> {
        let Some(table) = &self.table else { return Ok(()) };
        let input = input(table)?;
        let Input::File(path) = &input else { return Ok(()) };
        if !path.exists() {
            warn(&format!("{}: there is no such file, so its columns were not checked", path.display()));
            return Ok(());
        }
        let options = self.read.options();
        Ok(plan.check_columns(&Reading { input: &input, options: &options, progress: &() })?)
    }

    /// What the ledger would hold afterwards; nothing if no table or ledger was named.
    pub(super) fn preview(&self, charge: &Charge) -> Result<Option<Preview>, Failure> {
        if self.no_ledger || (self.table.is_none() && self.ledger.is_none()) {
            return Ok(None);
        }
        match self.ledger() {
            Ok(Some((path, account))) => preview(&path, &account, charge).map(Some),
            _ => Ok(None),
        }
    }
}
