//! A plan of randomised answers: everything that is known before any data is read.

use organza_release::loss::Mechanism;
use organza_release::{LevelColumn, Neighbours, count_cells};

use super::truth::truth;
use crate::CuratorError;
use crate::bounds::Bounds;
use crate::counts::{Cells, parse_columns, positive_epsilon, public_levels, reading_columns};
use crate::formula::CategoricalColumn;
use crate::ledger::Charge;

/// What an answer is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Per {
    /// One answer about all columns together.
    Record,
    /// One answer about each column, with an equal share of epsilon.
    Column,
}

/// A release of randomised answers to be planned. It is made of public knowledge only.
#[derive(Debug, Clone)]
pub struct RandomisedRequest {
    /// The columns.
    pub columns: Vec<String>,
    /// What an answer is about.
    pub per: Per,
    /// Public levels.
    pub bounds: Bounds,
    /// Privacy loss of every record.
    pub epsilon: f64,
}

impl RandomisedRequest {
    /// Columns as a person writes them, separated by commas.
    pub fn new(columns: &str, per: Per, bounds: Bounds, epsilon: f64) -> Result<Self, CuratorError> {
        Ok(Self { columns: parse_columns(FIELD, columns)?, per, bounds, epsilon })
    }
}

const FIELD: &str = "randomised.columns";

/// One question of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The columns that it is about.
    pub columns: Vec<String>,
    /// Number of possible answers.
    pub choices: usize,
    /// Probability that the published answer is the true one.
    pub truth: f64,
    pub(super) cells: Cells,
}

/// Randomised answers, waiting for data.
#[derive(Debug, Clone)]
pub struct RandomisedPlan {
    pub(super) columns: Vec<LevelColumn>,
    /// The same columns as the readers want them.
    pub(super) read: Vec<CategoricalColumn>,
    pub(super) questions: Vec<Question>,
    pub(super) epsilon: f64,
}

impl RandomisedPlan {
    /// Finds the levels and the probabilities of the truth.
    pub fn new(request: &RandomisedRequest) -> Result<Self, CuratorError> {
        positive_epsilon(request.epsilon)?;
        let columns = public_levels(FIELD, request.columns.iter(), &request.bounds)?;
        let tables: Vec<Vec<String>> = match request.per {
            Per::Record => vec![request.columns.clone()],
            Per::Column => request.columns.iter().map(|name| vec![name.clone()]).collect(),
        };
        count_cells(&columns, &tables, true)
            .map_err(|error| CuratorError::setting(FIELD, error.to_string()))?;
        let share = request.epsilon / tables.len() as f64;
        // The quotient may have been rounded up; the sum of the shares must not exceed the whole.
        let share = if share * tables.len() as f64 > request.epsilon { share.next_down() } else { share };
        let question = |table: Vec<String>| {
            let cells = Cells::new(&table, &columns);
            let choices = cells.count();
            Ok(Question { columns: table, choices, truth: truth(share, choices)?, cells })
        };
        let questions = tables.into_iter().map(question).collect::<Result<_, CuratorError>>()?;
        let read = reading_columns(&columns);
        Ok(Self { columns, read, questions, epsilon: request.epsilon })
    }

    /// The columns that the answers are about.
    pub fn columns(&self) -> &[LevelColumn] {
        &self.columns
    }

    /// What every record is asked.
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// The privacy loss of every record.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// What is released, for the ledger.
    pub fn description(&self) -> String {
        let name = |question: &Question| question.columns.join(" by ");
        let names: Vec<String> = self.questions.iter().map(name).collect();
        format!("randomised answers about {}", names.join("; "))
    }

    /// What the ledger is charged.
    pub fn charge(&self) -> Charge {
        Charge {
            mechanism: Mechanism::Pure { epsilon: self.epsilon },
            total_variation: 0.0,
            neighbours: Some(Neighbours::Substitute),
            claimed_epsilon: self.epsilon,
            claimed_delta: 0.0,
            description: self.description(),
        }
    }
}
