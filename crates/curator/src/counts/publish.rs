//! From a table to noisy counts.

use organza_release::{COUNTS_SCHEMA, CountFamily, CountRelease, Document, Missing, Neighbours};

use super::plan::CountPlan;
use super::tally::{ExactCounts, Tally};
use crate::CuratorError;
use crate::ledger::Charge;
use crate::mechanism::NoiseRng;
use crate::policy::Subject;
use crate::publishable::{Publishable, dropped, now, this_tool};
use crate::table::{Counts, Event, Reading, Table};

/// A source of integer noise. Tests inject their own; the public interface takes [`NoiseRng`] only.
pub(crate) trait CountSource {
    /// One draw of noise of this scale.
    fn draw(&mut self, family: CountFamily, scale: f64) -> Result<i128, CuratorError>;
}

impl CountSource for NoiseRng {
    fn draw(&mut self, family: CountFamily, scale: f64) -> Result<i128, CuratorError> {
        self.draw_count(family, scale)
    }
}

impl CountPlan {
    /// Draws the noise and makes the release. The loss must have been charged before.
    pub fn publish(
        &self,
        exact: &ExactCounts,
        party: &str,
        missing: Missing,
        noise: &mut NoiseRng,
    ) -> Result<CountRelease, CuratorError> {
        self.publish_with(exact, party, missing, noise)
    }

    pub(super) fn publish_with(
        &self,
        exact: &ExactCounts,
        party: &str,
        missing: Missing,
        noise: &mut impl CountSource,
    ) -> Result<CountRelease, CuratorError> {
        let noisy = |&count: &u64| {
            let drawn = noise.draw(self.noise.family, self.noise.scale)?;
            Ok((i128::from(count) + drawn) as f64)
        };
        let public_count = self.privacy.neighbours == Neighbours::Substitute;
        let release = CountRelease {
            schema: COUNTS_SCHEMA.to_string(),
            party: party.to_string(),
            created: now(),
            records: public_count.then_some(exact.records()),
            missing,
            columns: self.columns.clone(),
            tables: self.tables.clone(),
            value: exact.counts.iter().map(noisy).collect::<Result<_, CuratorError>>()?,
            noise: self.noise.clone(),
            privacy: self.privacy.clone(),
            tool: this_tool(),
        };
        release.validate()?;
        Ok(release)
    }

    fn tally(&self) -> Tally {
        Tally::new(&self.tables, &self.columns)
    }
}

impl Publishable for CountPlan {
    type Exact = ExactCounts;
    type Published = CountRelease;

    fn neighbours(&self) -> Neighbours {
        self.privacy.neighbours
    }

    fn cost(&self) -> Charge {
        self.charge()
    }

    fn subject(&self) -> Subject {
        Subject::of_levels("counts", &self.columns)
    }

    fn check_columns(&self, reading: &Reading<'_>) -> Result<(), CuratorError> {
        Table::of_levels(reading, &self.read)?.check_columns()
    }

    fn measure(&self, reading: &Reading<'_>) -> Result<(ExactCounts, Counts), CuratorError> {
        let table = Table::of_levels(reading, &self.read)?;
        let (tallies, counts) = table.fold(|| self.tally(), Tally::add)?;
        let mut total = self.tally();
        tallies.iter().for_each(|tally| total.merge(tally));
        if counts.records == 0 {
            return Err(CuratorError::EmptyTable {
                path: format!("{}, after dropping", reading.input.name()),
            });
        }
        Ok((total.finish(), counts))
    }

    fn measure_batches(
        &self,
        reading: &Reading<'_>,
        rows: u64,
        on_batch: &mut dyn FnMut(&ExactCounts) -> Result<(), CuratorError>,
    ) -> Result<Counts, CuratorError> {
        let table = Table::of_levels(reading, &self.read)?;
        let mut tally = self.tally();
        table.for_each_batch(rows, &mut |event| match event {
            Event::Block(block) => tally.add(block),
            Event::BatchEnd(0) => Ok(()),
            Event::BatchEnd(_) => on_batch(&std::mem::replace(&mut tally, self.tally()).finish()),
        })
    }

    fn warnings(&self, exact: &ExactCounts, missing: Missing) -> Vec<String> {
        let mut said = Vec::new();
        let (cells, noise) = (self.cells() as f64, self.noise.variance().sqrt());
        let tables = self.tables.len() as f64;
        let average = exact.records() as f64 * tables / cells;
        // A confidential number of records is not told on a terminal either.
        if noise > average && self.privacy.neighbours == Neighbours::Substitute {
            said.push(format!(
                "the noise of a count, {noise:.1}, is larger than the average count, {average:.1}: take fewer columns or \
                 levels"
            ));
        }
        said.extend(dropped(missing));
        said
    }

    fn draw(&self, exact: &ExactCounts, party: &str, missing: Missing) -> Result<CountRelease, CuratorError> {
        self.publish(exact, party, missing, &mut NoiseRng::from_operating_system())
    }

    fn text(&self, published: &CountRelease) -> Result<String, CuratorError> {
        Ok(published.to_json()?)
    }

    fn line(&self, published: &CountRelease) -> Result<String, CuratorError> {
        Ok(published.to_json_line()?)
    }
}
