//! A release from beginning to end: reserve the output, measure, charge, draw, write, record.

use std::path::PathBuf;

use organza_release::Release;

use crate::CuratorError;
use crate::ledger::{Account, ChargeOutcome, Ledger};
use crate::measure::{measure_batches, measure_statistic};
use crate::mechanism::{NoiseRng, Plan};
use crate::output::PendingFile;
use crate::sums::Measured;
use crate::table::{Counts, Input, Progress, ReadOptions};

/// Everything about a release but its plan.
#[derive(Debug, Clone)]
pub struct Job {
    /// The table.
    pub input: Input,
    /// How to read it.
    pub options: ReadOptions,
    /// The data holder.
    pub party: String,
    /// The release file.
    pub output: PathBuf,
    /// Whether an existing release file is replaced.
    pub overwrite: bool,
    /// Rows per release, for many releases over disjoint batches.
    pub batch_rows: Option<u64>,
    /// The ledger and the data set's name in it; none if losses are kept elsewhere.
    pub ledger: Option<(PathBuf, Account)>,
}

/// What a job did.
#[derive(Debug)]
pub struct Outcome {
    /// The first release.
    pub release: Release,
    /// How many releases were written.
    pub releases: u64,
    /// How many rows were read and used.
    pub counts: Counts,
    /// What the ledger says.
    pub charge: Option<ChargeOutcome>,
    /// What a person should know.
    pub warnings: Vec<String>,
}

impl Job {
    /// Makes the release.
    ///
    /// The loss is charged after the statistic is known and before the first random bit is drawn: a bad table costs
    /// nothing, and a crash later on loses budget, never privacy.
    pub fn run(&self, plan: &Plan, progress: &dyn Progress) -> Result<Outcome, CuratorError> {
        if self.batch_rows.is_some() && plan.privacy().neighbours == organza_release::Neighbours::AddRemove {
            let reason = "adding a record would shift all later batches: use --neighbours substitute";
            return Err(CuratorError::option("--batch-records", reason));
        }
        let file = PendingFile::create(&self.output, self.overwrite)?;
        match self.batch_rows {
            None => self.release_whole(plan, file, progress),
            Some(rows) => self.release_batches(plan, file, (rows, progress)),
        }
    }

    fn release_whole(
        &self,
        plan: &Plan,
        mut file: PendingFile,
        progress: &dyn Progress,
    ) -> Result<Outcome, CuratorError> {
        let (measured, counts) = measure_statistic(plan, &self.input, &self.options, progress)?;
        self.check_rows(plan, &measured)?;
        let warnings = warnings(plan, &measured, &self.options);
        let (mut ledger, charge) = self.charge(plan)?;
        let release = self.publish(plan, &measured)?;
        file.write(&release.to_json()?)?;
        file.finish()?;
        self.mark_published(&mut ledger, charge.as_ref())?;
        Ok(Outcome { release, releases: 1, counts, charge, warnings })
    }

    /// Batches are disjoint, so every record pays for one of them only: one charge covers all.
    fn release_batches(
        &self,
        plan: &Plan,
        mut file: PendingFile,
        (rows, progress): (u64, &dyn Progress),
    ) -> Result<Outcome, CuratorError> {
        if rows == 0 {
            return Err(CuratorError::option("--batch-records", "must be at least 1"));
        }
        let (mut ledger, mut charge, mut first, mut releases, mut said) = (None, None, None, 0, vec![]);
        let measured = measure_batches(plan, &self.input, &self.options, (rows, progress), &mut |batch| {
            if self.check_rows(plan, batch).is_err() {
                return Ok(()); // The last batch may be too short for a single row.
            }
            if first.is_none() {
                said = warnings(plan, batch, &self.options);
                (ledger, charge) = self.charge(plan)?;
            }
            let release = self.publish(plan, batch)?;
            file.write(&release.to_json_line()?)?;
            releases += 1;
            first.get_or_insert(release);
            Ok(())
        });
        let Some(release) = first else {
            measured?;
            return Err(CuratorError::EmptyTable { path: format!("{}, after dropping", self.input.name()) });
        };
        // Finished batches have been paid for: they are kept even if a later one fails.
        file.finish()?;
        self.mark_published(&mut ledger, charge.as_ref())?;
        let path = self.output.display().to_string();
        let counts =
            measured.map_err(|cause| CuratorError::Interrupted { path, releases, cause: Box::new(cause) })?;
        Ok(Outcome { release, releases, counts, charge, warnings: said })
    }

    /// A table without a single row of averaged records is refused before it costs anything.
    fn check_rows(&self, plan: &Plan, measured: &Measured) -> Result<(), CuratorError> {
        let (records, averaged) = (measured.records(), plan.statistic().averaged());
        if records >= averaged {
            return Ok(());
        }
        let reason = format!("{}: {records} records do not fill a row of {averaged}", self.input.name());
        Err(CuratorError::option("--average", reason))
    }

    fn publish(&self, plan: &Plan, exact: &Measured) -> Result<Release, CuratorError> {
        plan.publish(exact, &self.party, self.options.missing, &mut NoiseRng::from_operating_system())
    }

    fn charge(&self, plan: &Plan) -> Result<(Option<Ledger>, Option<ChargeOutcome>), CuratorError> {
        let Some((path, account)) = &self.ledger else { return Ok((None, None)) };
        let mut ledger = Ledger::open(path)?;
        let outcome = ledger.charge(account, &plan.charge(plan.description()))?;
        Ok((Some(ledger), Some(outcome)))
    }

    fn mark_published(
        &self,
        ledger: &mut Option<Ledger>,
        charge: Option<&ChargeOutcome>,
    ) -> Result<(), CuratorError> {
        if let (Some(ledger), Some(charge)) = (ledger, charge) {
            ledger.mark_published(charge.id, &self.output.display().to_string())?;
        }
        Ok(())
    }
}

fn warnings(plan: &Plan, measured: &Measured, options: &ReadOptions) -> Vec<String> {
    let records = measured.records();
    let mut said = Vec::new();
    let regressors = plan.domain().dimension() - 1;
    let rows = records / plan.statistic().averaged();
    if (rows as f64) < regressors as f64 {
        said.push(format!("{rows} records for {regressors} coefficients: they cannot be told apart"));
    }
    let averaged = plan.statistic().averaged();
    if !records.is_multiple_of(averaged) {
        said.push(format!(
            "the last {} of {records} records do not fill a row of {averaged} and were left out",
            records % averaged
        ));
    }
    let delta = plan.privacy().delta;
    if delta * records as f64 > 1.0 {
        said.push(format!(
            "delta = {delta} is larger than 1/n = {:.1e}: publishing a whole record could satisfy it; use a smaller one",
            1.0 / records as f64
        ));
    }
    if options.missing == organza_release::Missing::Dropped {
        said.push("incomplete records were dropped: which records are complete is treated as public".into());
    }
    said
}
