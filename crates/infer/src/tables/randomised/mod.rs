//! Randomised answers: the likelihood of a table of answers is known in closed form.
//!
//! **Target.** The probabilities of the cells of the crossed columns, Dirichlet a priori, given the answers of the records of one or more
//! parties. A record of cell c answers y with probability M(y | c), the product over its answers of truth or (1 - truth) / (L - 1), so a
//! party's counts n_y of joint answers are multinomial with probabilities M theta. The cost does not grow with the number of records, and M is
//! never formed: every answer mixes with its own average, in O(cells).

mod augmentation;
mod density;

pub use augmentation::{AnswerAugmentation, AnswerAugmentationState};
pub use density::AnswerDensity;

use std::collections::HashSet;

use organza_release::{LevelColumn, Parties, RandomisedRelease};

use super::crossing::Crossing;
use super::evidence::{LARGEST_TABLE, check_columns, find_columns, same_columns};
use super::prior::TablePrior;
use crate::InferError;

/// The answers of all parties, counted, and the prior.
#[derive(Debug, Clone)]
pub struct RandomisedAnswers {
    pub(super) concentrations: Vec<f64>,
    parties: Vec<Party>,
    names: Vec<String>,
}

/// The answers of one party.
#[derive(Debug, Clone)]
struct Party {
    /// Number of records with each joint answer.
    counts: Vec<f64>,
    channels: Vec<Channel>,
}

/// How one answer is randomised.
#[derive(Debug, Clone)]
struct Channel {
    truth: f64,
    /// Probability of each answer that is not the true one.
    other: f64,
    /// The answer of every cell, if it is true.
    answers: Vec<u32>,
    /// For every cell a number that it shares with the cells that differ from it in this answer alone; and how many there are.
    siblings: Vec<u32>,
    families: usize,
}

impl RandomisedAnswers {
    /// Checks the releases and counts the answers.
    pub fn new(
        releases: &[RandomisedRelease],
        prior: &TablePrior,
        allow_duplicates: bool,
    ) -> Result<Self, InferError> {
        let first = releases.first().ok_or(InferError::NoRelease)?;
        let columns = &first.columns;
        check_columns(&first.party, columns)?;
        let cells = Crossing::new((0..columns.len()).collect(), columns);
        let size = cells.size().filter(|size| *size <= LARGEST_TABLE);
        let size = size
            .ok_or_else(|| InferError::counts(&first.party, "columns", "have too many cells when crossed"))?;
        let labels: Vec<String> = (0..size).map(|cell| cells.label(cell, columns)).collect();
        let concentrations = prior.concentrations(&labels, 1.0)?;
        prior.check_names(labels.iter())?;
        let (mut seen, mut parties) = (Parties::default(), Vec::new());
        for release in releases {
            if !seen.admit(&release.party) && !allow_duplicates {
                return Err(InferError::Duplicate { party: release.party.clone() });
            }
            same_columns((&first.party, columns), (&release.party, &release.columns))?;
            parties.push(Party::new(release, &cells, size)?);
        }
        let names = labels.iter().map(|label| format!("p[{label}]")).collect();
        Ok(Self { concentrations, parties, names })
    }

    /// Names of the values of a draw.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

impl Party {
    fn new(release: &RandomisedRelease, cells: &Crossing, size: usize) -> Result<Self, InferError> {
        let (party, columns) = (release.party.as_str(), &release.columns);
        let (mut crossings, mut asked) = (Vec::new(), HashSet::new());
        for place in 0..release.answers.len() {
            let crossing = check_answer(release, place)?;
            if let Some(twice) = crossing.columns.iter().find(|column| !asked.insert(**column)) {
                let reason = format!("{:?} is in an earlier answer", columns[*twice].name);
                return Err(InferError::counts(party, format!("answers[{place}].columns"), reason));
            }
            crossings.push(crossing);
        }
        if let Some(column) = (0..columns.len()).find(|column| !asked.contains(column)) {
            let reason = format!("ask nothing about {:?}", columns[column].name);
            return Err(InferError::counts(party, "answers", reason));
        }
        let counts = count(release, &crossings, cells, size);
        let channels = release.answers.iter().zip(&crossings);
        let channels =
            channels.map(|(answer, crossing)| Channel::new(answer.truth, crossing, cells, columns));
        Ok(Self { counts, channels: channels.collect() })
    }
}

/// Checks one answer of all records; gives the cells that it may name.
fn check_answer(release: &RandomisedRelease, place: usize) -> Result<Crossing, InferError> {
    let (party, answer) = (release.party.as_str(), &release.answers[place]);
    let wrong = |part: &str, reason: String| {
        Err(InferError::counts(party, format!("answers[{place}].{part}"), reason))
    };
    let field = format!("answers[{place}].columns");
    let crossing =
        Crossing::new(find_columns((party, &field), &answer.columns, &release.columns)?, &release.columns);
    if answer.columns.is_empty() {
        return wrong("columns", "is empty: name at least one column".into());
    }
    if answer.value.len() as u64 != release.records {
        return wrong("value", format!("has {} answers of {} records", answer.value.len(), release.records));
    }
    if !(0.0..=1.0).contains(&answer.truth) {
        return wrong("truth", format!("must be a probability, found {}", answer.truth));
    }
    let most = crossing.size().unwrap_or(1) - 1;
    match answer.value.iter().position(|value| *value as usize > most) {
        Some(record) => {
            let found = answer.value[record];
            wrong("value", format!("has {found} at record {record}; answers go from 0 to {most}"))
        }
        None => Ok(crossing),
    }
}

/// Number of records with each joint answer.
fn count(release: &RandomisedRelease, crossings: &[Crossing], cells: &Crossing, size: usize) -> Vec<f64> {
    let (mut counts, mut levels) = (vec![0.0; size], vec![0; release.columns.len()]);
    for record in 0..release.records as usize {
        for (answer, crossing) in release.answers.iter().zip(crossings) {
            crossing.write_levels(answer.value[record] as usize, &mut levels);
        }
        counts[cells.cell(&levels)] += 1.0;
    }
    counts
}

impl Channel {
    fn new(truth: f64, answer: &Crossing, cells: &Crossing, columns: &[LevelColumn]) -> Self {
        let size = cells.size().unwrap_or(0);
        let rest = (0..columns.len()).filter(|column| !answer.columns.contains(column)).collect();
        let rest = Crossing::new(rest, columns);
        let (mut levels, mut answers, mut siblings) = (vec![0; columns.len()], Vec::new(), Vec::new());
        for cell in 0..size {
            cells.write_levels(cell, &mut levels);
            answers.push(answer.cell(&levels) as u32);
            siblings.push(rest.cell(&levels) as u32);
        }
        let other = (1.0 - truth) / (answer.size().unwrap_or(2) as f64 - 1.0);
        Self { truth, other, answers, siblings, families: rest.size().unwrap_or(1) }
    }

    /// Replaces probabilities of cells by probabilities of answers; its matrix is symmetric, so gradients go the same way.
    fn mix(&self, values: &mut [f64], sums: &mut [f64]) {
        let sums = &mut sums[..self.families];
        sums.fill(0.0);
        self.siblings.iter().zip(values.iter()).for_each(|(family, value)| sums[*family as usize] += value);
        let mixed = values.iter_mut().zip(&self.siblings);
        mixed.for_each(|(value, family)| {
            *value = (self.truth - self.other) * *value + self.other * sums[*family as usize];
        });
    }
}
