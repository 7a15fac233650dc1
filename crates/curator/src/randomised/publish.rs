//! From a table to randomised answers.

use organza_release::{Answer, Document, Missing, Neighbours, RANDOMISED_SCHEMA, RandomisedRelease};

use super::plan::RandomisedPlan;
use crate::CuratorError;
use crate::formula::BlockColumns;
use crate::ledger::Charge;
use crate::mechanism::NoiseRng;
use crate::policy::Subject;
use crate::publishable::{Publishable, dropped, now, this_tool};
use crate::table::{Counts, Event, Reading, Table};

/// The true answers of all records, in the order of the table. They never leave this crate without noise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExactAnswers {
    /// One list per question.
    pub(super) answers: Vec<Vec<u32>>,
    pub(super) records: u64,
}

impl ExactAnswers {
    /// Number of records that answer.
    pub fn records(&self) -> u64 {
        self.records
    }
}

/// A source of randomised answers. Tests inject their own; the public interface takes [`NoiseRng`] only.
pub(super) trait AnswerSource {
    /// The answer to publish in place of a true one.
    fn answer(&mut self, truth: f64, choices: u32, exact: u32) -> Result<u32, CuratorError>;
}

impl AnswerSource for NoiseRng {
    fn answer(&mut self, truth: f64, choices: u32, exact: u32) -> Result<u32, CuratorError> {
        self.draw_answer(truth, choices, exact)
    }
}

impl RandomisedPlan {
    /// Draws the answers and makes the release. The loss must have been charged before.
    pub fn publish(
        &self,
        exact: &ExactAnswers,
        party: &str,
        missing: Missing,
        noise: &mut NoiseRng,
    ) -> Result<RandomisedRelease, CuratorError> {
        self.publish_with(exact, party, missing, noise)
    }

    pub(super) fn publish_with(
        &self,
        exact: &ExactAnswers,
        party: &str,
        missing: Missing,
        noise: &mut impl AnswerSource,
    ) -> Result<RandomisedRelease, CuratorError> {
        let mut answers = Vec::with_capacity(self.questions.len());
        for (question, exact) in self.questions.iter().zip(&exact.answers) {
            let (truth, choices) = (question.truth, question.choices as u32);
            let value = exact.iter().map(|&exact| noise.answer(truth, choices, exact));
            let value = value.collect::<Result<_, CuratorError>>()?;
            answers.push(Answer { columns: question.columns.clone(), truth, value });
        }
        let release = RandomisedRelease {
            schema: RANDOMISED_SCHEMA.to_string(),
            party: party.to_string(),
            created: now(),
            records: exact.records(),
            missing,
            columns: self.columns.clone(),
            answers,
            neighbours: Neighbours::Substitute,
            epsilon: self.epsilon,
            tool: this_tool(),
        };
        release.validate()?;
        Ok(release)
    }

    fn nothing(&self) -> ExactAnswers {
        ExactAnswers { answers: vec![Vec::new(); self.questions.len()], records: 0 }
    }

    fn add(&self, exact: &mut ExactAnswers, block: &BlockColumns<'_>) -> Result<(), CuratorError> {
        let rows = block.rows();
        for (question, answers) in self.questions.iter().zip(&mut exact.answers) {
            answers.extend((0..rows).map(|row| question.cells.of_row(block, row) as u32));
        }
        exact.records += rows as u64;
        Ok(())
    }
}

impl Publishable for RandomisedPlan {
    type Exact = ExactAnswers;
    type Published = RandomisedRelease;

    fn neighbours(&self) -> Neighbours {
        Neighbours::Substitute
    }

    fn cost(&self) -> Charge {
        self.charge()
    }

    fn subject(&self) -> Subject {
        Subject::of_levels("randomised-response", &self.columns)
    }

    fn check_columns(&self, reading: &Reading<'_>) -> Result<(), CuratorError> {
        Table::of_levels(reading, &self.read)?.check_columns()
    }

    fn measure(&self, reading: &Reading<'_>) -> Result<(ExactAnswers, Counts), CuratorError> {
        let mut whole = None;
        let counts = self.measure_batches(reading, u64::MAX, &mut |exact| {
            whole = Some(exact.clone());
            Ok(())
        })?;
        let empty = || CuratorError::EmptyTable { path: format!("{}, after dropping", reading.input.name()) };
        Ok((whole.ok_or_else(empty)?, counts))
    }

    fn measure_batches(
        &self,
        reading: &Reading<'_>,
        rows: u64,
        on_batch: &mut dyn FnMut(&ExactAnswers) -> Result<(), CuratorError>,
    ) -> Result<Counts, CuratorError> {
        let table = Table::of_levels(reading, &self.read)?;
        let mut exact = self.nothing();
        table.for_each_batch(rows, &mut |event| match event {
            Event::Block(block) => self.add(&mut exact, block),
            Event::BatchEnd(0) => Ok(()),
            Event::BatchEnd(_) => on_batch(&std::mem::replace(&mut exact, self.nothing())),
        })
    }

    fn warnings(&self, _exact: &ExactAnswers, missing: Missing) -> Vec<String> {
        dropped(missing).into_iter().collect()
    }

    fn draw(
        &self,
        exact: &ExactAnswers,
        party: &str,
        missing: Missing,
    ) -> Result<RandomisedRelease, CuratorError> {
        self.publish(exact, party, missing, &mut NoiseRng::from_operating_system())
    }

    fn text(&self, published: &RandomisedRelease) -> Result<String, CuratorError> {
        Ok(published.to_json()?)
    }

    fn line(&self, published: &RandomisedRelease) -> Result<String, CuratorError> {
        Ok(published.to_json_line()?)
    }
}
