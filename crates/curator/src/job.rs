//! A release from beginning to end: reserve the output, measure, charge, draw, write, record.

use std::path::{Path, PathBuf};

use organza_release::{Neighbours, Release, batch_name};

use crate::CuratorError;
use crate::fingerprint::Fingerprint;
use crate::ledger::{Account, Charge, ChargeOutcome, Ledger};
use crate::measure::plan_for;
use crate::mechanism::{Plan, Request};
use crate::output::PendingFile;
use crate::policy::{Policy, Subject, check_guarantee};
use crate::publishable::Publishable;
use crate::table::{Counts, Input, Progress, ReadOptions, Reading};

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
    /// Whether a guarantee that is hardly one is meant.
    pub allow_weak_guarantee: bool,
    /// Rows per release, for many releases over disjoint batches.
    pub batch_rows: Option<u64>,
    /// The ledger and the data set's name in it; none if losses are kept elsewhere.
    pub ledger: Option<(PathBuf, Account)>,
}

/// What a job did.
#[derive(Debug)]
pub struct Outcome<D = Release> {
    /// The first release.
    pub release: D,
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
    /// The plan of what is asked for. The default radius follows from the number of records: given, of a batch, or
    /// counted here where it is public and the table can be read twice.
    pub fn plan(&self, request: &Request, progress: &dyn Progress) -> Result<Plan, CuratorError> {
        // A destination that cannot be had is found before a long table is counted.
        PendingFile::create(&self.output, self.overwrite)?;
        let records = request.records.or(self.batch_rows.filter(|rows| *rows > 0));
        let reading = Reading { input: &self.input, options: &self.options, progress };
        plan_for(&Request { records, ..request.clone() }, &reading)
    }

    /// Makes the release.
    ///
    /// The loss is charged after the statistic is known and before the first random bit is drawn: a bad table costs
    /// nothing, and a crash later on loses budget, never privacy.
    pub fn run<P: Publishable>(
        &self,
        plan: &P,
        progress: &dyn Progress,
    ) -> Result<Outcome<P::Published>, CuratorError> {
        if self.batch_rows.is_some() && plan.neighbours() == Neighbours::AddRemove {
            let reason =
                "adding a record would shift all later batches: use the setting `neighbours = substitute`";
            return Err(CuratorError::setting("batch_rows", reason));
        }
        let file = PendingFile::create(&self.output, self.overwrite)?;
        let fingerprint = self.ledger.as_ref().map(|(path, _)| Ledger::fingerprint_key(path)).transpose()?;
        let options = ReadOptions { fingerprint, ..self.options.clone() };
        let reading = Reading { input: &self.input, options: &options, progress };
        match self.batch_rows {
            None => self.release_whole(plan, file, &reading),
            Some(rows) => self.release_batches(plan, file, rows, &reading),
        }
    }

    fn release_whole<P: Publishable>(
        &self,
        plan: &P,
        mut file: PendingFile,
        reading: &Reading<'_>,
    ) -> Result<Outcome<P::Published>, CuratorError> {
        let (exact, counts) = plan.measure(reading)?;
        plan.check(&exact, &self.input.name())?;
        let warnings = plan.warnings(&exact, self.options.missing);
        let (mut ledger, charge) = self.charge(plan, counts.records, counts.content.clone())?;
        let release = plan.draw(&exact, &self.party, self.options.missing)?;
        file.write(&plan.text(&release)?)?;
        file.finish()?;
        self.mark_published(&mut ledger, charge.as_ref())?;
        Ok(Outcome { release, releases: 1, counts, charge, warnings })
    }

    /// Batches are disjoint, so every record pays for one of them only: one charge covers all.
    fn release_batches<P: Publishable>(
        &self,
        plan: &P,
        mut file: PendingFile,
        rows: u64,
        reading: &Reading<'_>,
    ) -> Result<Outcome<P::Published>, CuratorError> {
        if rows == 0 {
            return Err(CuratorError::setting("batch_rows", "must be at least 1"));
        }
        let (mut ledger, mut charge, mut first, mut releases, mut said) = (None, None, None, 0, vec![]);
        // A stream can be read but once: it is recognised when it has been read.
        let again = self.ledger.is_some() && self.input.is_regular_file();
        let content = if again { plan.measure(reading)?.1.content } else { Fingerprint::default() };
        let mut number = 0;
        let measured = plan.measure_batches(reading, rows, &mut |batch| {
            number += 1;
            if plan.check(batch, &self.input.name()).is_err() {
                return Ok(()); // The last batch may be too short for a single row.
            }
            if first.is_none() {
                said = plan.warnings(batch, self.options.missing);
                (ledger, charge) = self.charge(plan, rows, content.clone())?;
            }
            let release = plan.draw(batch, &batch_name(&self.party, number, rows), self.options.missing)?;
            file.write(&plan.line(&release)?)?;
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
        if let (Some(ledger), Some((_, account))) = (&mut ledger, &self.ledger) {
            let noted = ledger.note_content(&account.clone().with_content(counts.content.clone()));
            said.extend(noted.err().map(|error| error.to_string()));
        }
        Ok(Outcome { release, releases, counts, charge, warnings: said })
    }

    fn charge<P: Publishable>(
        &self,
        plan: &P,
        records: u64,
        content: Fingerprint,
    ) -> Result<(Option<Ledger>, Option<ChargeOutcome>), CuratorError> {
        let cost = plan.cost();
        if !self.allow_weak_guarantee {
            check_guarantee(&cost, records)?;
        }
        let account = self.ledger.as_ref().map(|(path, account)| (path.as_path(), account));
        Ok(charge(&plan.subject(), &cost, account, content)?.unzip())
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

/// Charges a ledger, if there is one, for records of this content, as far as the site allows it.
pub fn charge(
    subject: &Subject,
    cost: &Charge,
    account: Option<(&Path, &Account)>,
    content: Fingerprint,
) -> Result<Option<(Ledger, ChargeOutcome)>, CuratorError> {
    let policies = Policy::of_site()?;
    policies.iter().try_for_each(|policy| policy.check(subject, cost, account.map(|(path, _)| path)))?;
    let Some((path, account)) = account else { return Ok(None) };
    let mut ledger = Ledger::open_for(path, &content)?.within(policies.iter().filter_map(Policy::total));
    let outcome = ledger.charge(&account.clone().with_content(content), cost)?;
    Ok(Some((ledger, outcome)))
}
