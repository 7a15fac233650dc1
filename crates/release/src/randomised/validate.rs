//! Checks of randomised answers beyond syntax.

use std::collections::BTreeSet;

use super::{Answer, RandomisedRelease};
use crate::check::{Checked, fail, require, require_positive};
use crate::counts::{MOST_CELLS, check_columns, check_missing, check_table};
use crate::document::{Document, Kind};
use crate::error::ReleaseError;
use crate::privacy::Neighbours;
use crate::validate::{check_origin, check_schema};

impl Document for RandomisedRelease {
    const KIND: Kind = Kind::Randomised;

    fn validate(&self) -> Result<(), ReleaseError> {
        RandomisedRelease::validate(self)
    }
}

impl RandomisedRelease {
    /// Checks that every field has a possible value and that the fields agree with each other.
    pub fn validate(&self) -> Result<(), ReleaseError> {
        check_schema(Kind::Randomised, &self.schema, &self.party)?;
        check_origin(&self.party, &self.created, &self.tool)?;
        require(self.records > 0, "records", "must be at least 1")?;
        check_missing(self.missing)?;
        check_columns(&self.columns)?;
        require(self.neighbours == Neighbours::Substitute, "neighbours", {
            "must be \"substitute\": there is one answer for every record, so their number is public"
        })?;
        require_positive("epsilon", self.epsilon)?;
        self.check_answers()
    }

    fn check_answers(&self) -> Checked {
        require(!self.answers.is_empty(), "answers", "must hold at least one answer")?;
        let mut used = BTreeSet::new();
        for (index, answer) in self.answers.iter().enumerate() {
            let field = format!("answers[{index}]");
            require(!answer.columns.is_empty(), format!("{field}.columns"), "must name a column")?;
            let cells = check_table(&format!("{field}.columns"), &answer.columns, &self.columns)?;
            self.check_answer(answer, &field, cells)?;
            for name in &answer.columns {
                require(used.insert(name.as_str()), format!("{field}.columns"), {
                    format!("{name:?} is in an earlier answer: it would be told twice")
                })?;
            }
        }
        let unused = self.columns.iter().position(|column| !used.contains(column.name.as_str()));
        unused.map_or(Ok(()), |index| fail(format!("columns[{index}]"), "is in no answer"))
    }

    fn check_answer(&self, answer: &Answer, field: &str, cells: usize) -> Checked {
        require(cells <= MOST_CELLS, format!("{field}.columns"), {
            format!("have more than {MOST_CELLS} cells: take fewer columns or levels")
        })?;
        let truth = answer.truth;
        require(truth > 0.0 && truth < 1.0, format!("{field}.truth"), {
            format!("must be between 0 and 1, found {truth}")
        })?;
        let (found, records) = (answer.value.len(), self.records);
        require(found as u64 == records, format!("{field}.value"), {
            format!("has {found} answers for {records} records")
        })?;
        match answer.value.iter().position(|&value| value as usize >= cells) {
            Some(index) => fail(
                format!("{field}.value[{index}]"),
                format!("must be below {cells}, the number of answers, found {}", answer.value[index]),
            ),
            None => Ok(()),
        }
    }
}
