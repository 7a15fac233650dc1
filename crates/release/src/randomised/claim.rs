//! Whether the stated guarantee of randomised answers follows from their probabilities.

use super::{Answer, RandomisedRelease};
use crate::claim::SLACK;

/// The guarantee recomputed from the probabilities of the answers.
#[derive(Debug, Clone, PartialEq)]
pub struct RandomisedClaim {
    /// The epsilon of each answer.
    pub answers: Vec<f64>,
    /// Their sum: what all answers of a record cost.
    pub epsilon: f64,
    /// Whether the stated epsilon is at least the recomputed one.
    pub holds: bool,
}

/// The epsilon of an answer that is true with probability `truth`, every other one of `choices` being equally likely.
///
/// An output has probability `truth` under the record that it is true of and `(1 - truth) / (choices - 1)` under any
/// other, so the largest ratio is one of these over the other: the first way round from `truth = 1 / choices` on, the
/// second below. Some pair of records attains it, because there are at least two choices.
pub fn randomised_epsilon(truth: f64, choices: usize) -> f64 {
    let odds = truth * (choices as f64 - 1.0) / (1.0 - truth);
    libm::log(odds).abs()
}

impl RandomisedRelease {
    /// Number of possible answers to a question: the product of the numbers of levels of its columns.
    pub fn choices(&self, answer: &Answer) -> usize {
        let levels = |name: &String| self.columns.iter().find(|column| column.name == *name);
        answer
            .columns
            .iter()
            .filter_map(levels)
            .fold(1, |product, column| usize::saturating_mul(product, column.levels.len()))
    }

    /// Recomputes the guarantee. The answers of a record are drawn independently, so their losses add; they are about
    /// different columns, so a pair of records that differs in all of them attains the sum. The release is taken to be valid.
    pub fn claim(&self) -> RandomisedClaim {
        let epsilon_of = |answer: &Answer| randomised_epsilon(answer.truth, self.choices(answer));
        let answers: Vec<f64> = self.answers.iter().map(epsilon_of).collect();
        let epsilon = answers.iter().sum();
        RandomisedClaim { answers, epsilon, holds: epsilon <= self.epsilon * SLACK }
    }
}
