//! What a job needs to know of a plan: how to measure, what it costs, how to publish.

use organza_release::{Missing, Neighbours, Release, Statistic, Tool};

use crate::CuratorError;
use crate::ledger::Charge;
use crate::measure::{measure_batches, measure_statistic};
use crate::mechanism::{NoiseRng, Plan};
use crate::policy::Subject;
use crate::sums::Measured;
use crate::table::{Counts, Reading, Table};

/// A plan that a [`Job`](crate::job::Job) can carry out.
pub trait Publishable {
    /// The exact statistic. It never leaves this crate without noise.
    type Exact;
    /// What is published.
    type Published;

    /// Which tables count as neighbours.
    fn neighbours(&self) -> Neighbours;

    /// What the ledger is charged.
    fn cost(&self) -> Charge;

    /// What is computed, and from which columns.
    fn subject(&self) -> Subject;

    /// Looks for the needed columns in the table's header, and at no value.
    fn check_columns(&self, reading: &Reading<'_>) -> Result<(), CuratorError>;

    /// The exact statistic of a whole table.
    fn measure(&self, reading: &Reading<'_>) -> Result<(Self::Exact, Counts), CuratorError>;

    /// The exact statistic of each batch of rows in turn. No record outlives its batch.
    fn measure_batches(
        &self,
        reading: &Reading<'_>,
        rows: u64,
        on_batch: &mut dyn FnMut(&Self::Exact) -> Result<(), CuratorError>,
    ) -> Result<Counts, CuratorError>;

    /// Refuses a statistic that cannot be published, before it costs anything; `table` is used in errors.
    fn check(&self, _exact: &Self::Exact, _table: &str) -> Result<(), CuratorError> {
        Ok(())
    }

    /// What a person should know.
    fn warnings(&self, exact: &Self::Exact, missing: Missing) -> Vec<String>;

    /// Draws and makes the release. The loss must have been charged before.
    fn draw(
        &self,
        exact: &Self::Exact,
        party: &str,
        missing: Missing,
    ) -> Result<Self::Published, CuratorError>;

    /// The text of the file.
    fn text(&self, published: &Self::Published) -> Result<String, CuratorError>;

    /// One line of a file that holds many.
    fn line(&self, published: &Self::Published) -> Result<String, CuratorError> {
        self.text(published)
    }
}

impl Publishable for Plan {
    type Exact = Measured;
    type Published = Release;

    fn neighbours(&self) -> Neighbours {
        self.privacy().neighbours
    }

    fn cost(&self) -> Charge {
        self.charge(self.description())
    }

    fn subject(&self) -> Subject {
        let statistic = match self.statistic() {
            Statistic::Gram { .. } => "gram",
            Statistic::AveragedGram { .. } => "averaged-gram",
            Statistic::AdaSsp { .. } => "ada-ssp",
            Statistic::FourthMoments { .. } => "fourth-moments",
        };
        Subject { statistic, columns: self.design().column_names() }
    }

    fn check_columns(&self, reading: &Reading<'_>) -> Result<(), CuratorError> {
        Table::new(reading.input, self.design(), reading.options, reading.progress).check_columns()
    }

    fn measure(&self, reading: &Reading<'_>) -> Result<(Measured, Counts), CuratorError> {
        measure_statistic(self, reading.input, reading.options, reading.progress)
    }

    fn measure_batches(
        &self,
        reading: &Reading<'_>,
        rows: u64,
        on_batch: &mut dyn FnMut(&Measured) -> Result<(), CuratorError>,
    ) -> Result<Counts, CuratorError> {
        measure_batches(self, reading.input, reading.options, (rows, reading.progress), on_batch)
    }

    /// A table without a single row of averaged records is refused.
    fn check(&self, measured: &Measured, table: &str) -> Result<(), CuratorError> {
        let (records, averaged) = (measured.records(), self.statistic().averaged());
        if records >= averaged {
            return Ok(());
        }
        let reason = format!("{table}: {records} records do not fill a row of {averaged}");
        Err(CuratorError::setting("averaging", reason))
    }

    fn warnings(&self, measured: &Measured, missing: Missing) -> Vec<String> {
        let records = measured.records();
        let mut said = Vec::new();
        let regressors = self.domain().dimension() - 1;
        let averaged = self.statistic().averaged();
        let rows = records / averaged;
        // A confidential number is not told on a terminal either.
        let public = self.neighbours() == Neighbours::Substitute;
        if public && rows < regressors as u64 {
            said.push(format!("{rows} records for {regressors} coefficients: they cannot be told apart"));
        }
        if !records.is_multiple_of(averaged) {
            said.push(format!(
                "the last {} of {records} records do not fill a row of {averaged} and were left out",
                records % averaged
            ));
        }
        said.extend(dropped(missing));
        said
    }

    fn draw(&self, exact: &Measured, party: &str, missing: Missing) -> Result<Release, CuratorError> {
        self.publish(exact, party, missing, &mut NoiseRng::from_operating_system())
    }

    fn text(&self, published: &Release) -> Result<String, CuratorError> {
        Ok(published.to_json()?)
    }

    fn line(&self, published: &Release) -> Result<String, CuratorError> {
        Ok(published.to_json_line()?)
    }
}

/// What dropping says about the records.
pub(crate) fn dropped(missing: Missing) -> Option<String> {
    let text = "incomplete records were dropped: which records are complete is treated as public";
    (missing == Missing::Dropped).then(|| text.to_string())
}

/// The present moment as a release states it.
pub(crate) fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The program that writes the release.
pub(crate) fn this_tool() -> Tool {
    Tool { name: "organza".into(), version: env!("CARGO_PKG_VERSION").into() }
}
