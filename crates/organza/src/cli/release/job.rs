//! From the arguments of `organza release` to a job: the table, the output, the ledger.

use organza::beside_table::input;
use organza_curator::Publishable;
use organza_curator::job::Job;
use organza_curator::ledger::{Charge, Preview};
use organza_curator::measure::plan_for;
use organza_curator::mechanism::{Plan, Request};
use organza_curator::table::{Input, Reading};
use serde_json::Value;

use super::ReleaseArguments;
use super::report::{Loss, report};
use crate::cli::beside_table::NO_LEDGER;
use crate::cli::failure::{Failure, Status};
use crate::cli::terminal::{Bar, print_json, print_text, warn};

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
            let (input, options) = (input(table)?, self.beside.options());
            plan_for(request, &Reading { input: &input, options: &options, progress: &bar })
        } else {
            self.job()?.plan(request, &bar)
        };
        bar.finish();
        Ok(plan?)
    }

    fn job(&self) -> Result<Job, Failure> {
        let missing_argument = || Failure::bad_input("TABLE and --output are needed");
        let output = self.output.as_deref().ok_or_else(missing_argument)?;
        let mut job = self.beside.job(self.table.as_deref(), output, self.force)?;
        job.options.threads = self.threads.unwrap_or(job.options.threads).max(1);
        job.batch_rows = self.batch_records;
        Ok(job)
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
        let options = self.beside.options();
        Ok(plan.check_columns(&Reading { input: &input, options: &options, progress: &() })?)
    }

    /// A dry run: the plan for machines or for a person, and what the ledger would hold.
    pub(super) fn show<P: Publishable>(
        &self,
        plan: &P,
        as_json: impl FnOnce(&P, Option<&Preview>) -> Value,
        explain: impl FnOnce(&P, Option<&Preview>) -> String,
    ) -> Result<Status, Failure> {
        self.check_columns(plan)?;
        let preview = self.preview(&plan.cost())?;
        if self.json {
            print_json(&as_json(plan, preview.as_ref()))?;
        } else {
            print_text(&explain(plan, preview.as_ref()))?;
        }
        Ok(Status::Fine)
    }

    /// What the ledger would hold afterwards; nothing if no table or ledger was named.
    pub(super) fn preview(&self, charge: &Charge) -> Result<Option<Preview>, Failure> {
        self.beside.preview(self.table.as_deref(), charge)
    }
}
