//! What is fitted: the models, and which of them releases allow.

use std::fmt;
use std::str::FromStr;

use organza_release::{CountRelease, LevelColumn, RandomisedRelease, Release};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::InferError;
use crate::method::find;

/// What is said of the records, by one word: the same in code, command line and files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Model {
    /// Linear regression, from a release of sums.
    Linear,
    /// Mean and variance of one number, from a release of `y ~ 1`.
    Normal,
    /// Logistic regression of a response with bounds 0 and 1, from a release of sums.
    Logistic,
    /// The probability of one of two levels, from counts or randomised answers.
    Proportion,
    /// Probabilities of all cells of a contingency table, from counts or randomised answers.
    Table,
    /// Features that are independent given a class, from counts of every feature by class.
    NaiveBayes,
}

impl Model {
    /// All models.
    pub const ALL: [Model; 6] =
        [Model::Linear, Model::Normal, Model::Logistic, Model::Proportion, Model::Table, Model::NaiveBayes];

    /// Its one word.
    pub fn word(self) -> &'static str {
        match self {
            Model::Linear => "linear",
            Model::Normal => "normal",
            Model::Logistic => "logistic",
            Model::Proportion => "proportion",
            Model::Table => "table",
            Model::NaiveBayes => "naive-bayes",
        }
    }

    /// Whether it is about probabilities of levels, not about numbers.
    pub fn is_of_levels(self) -> bool {
        matches!(self, Model::Proportion | Model::Table | Model::NaiveBayes)
    }
}

impl fmt::Display for Model {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

impl FromStr for Model {
    type Err = InferError;

    fn from_str(text: &str) -> Result<Self, InferError> {
        find("model", text, Model::ALL.into_iter(), Model::word)
    }
}

/// Releases of one kind, borrowed: slices and vectors of releases are turned into it.
#[derive(Debug, Clone, Copy)]
pub enum Releases<'r> {
    /// Noisy sums of products.
    Sums(&'r [Release]),
    /// Noisy contingency tables.
    Counts(&'r [CountRelease]),
    /// Randomised answers.
    Randomised(&'r [RandomisedRelease]),
}

macro_rules! releases_from {
    ($($kind:ident: $release:ty),*) => {$(
        impl<'r> From<&'r [$release]> for Releases<'r> {
            fn from(releases: &'r [$release]) -> Self {
                Releases::$kind(releases)
            }
        }

        impl<'r> From<&'r Vec<$release>> for Releases<'r> {
            fn from(releases: &'r Vec<$release>) -> Self {
                Releases::$kind(releases)
            }
        }

        impl<'r, const COUNT: usize> From<&'r [$release; COUNT]> for Releases<'r> {
            fn from(releases: &'r [$release; COUNT]) -> Self {
                Releases::$kind(releases)
            }
        }
    )*};
}

releases_from!(Sums: Release, Counts: CountRelease, Randomised: RandomisedRelease);

impl Releases<'_> {
    /// The model to fit: the one that was asked for, if it is about releases like these; else the plainest that is.
    pub fn model(self, asked: Option<Model>) -> Result<Model, InferError> {
        use Model::{Linear, Logistic, NaiveBayes, Normal, Proportion, Table};
        let featureless = |releases: &[Release]| releases.iter().all(|one| one.domain.feature_count() == 0);
        let two = |columns: Option<&[LevelColumn]>| matches!(columns, Some([one]) if one.levels.len() == 2);
        let columns = match self {
            Releases::Sums(_) => None,
            Releases::Counts(releases) => releases.first().map(|release| &release.columns[..]),
            Releases::Randomised(releases) => releases.first().map(|release| &release.columns[..]),
        };
        let refuse = |reason: &str| Err(InferError::Setting { field: "model", reason: reason.into() });
        match (self, asked) {
            (Releases::Sums([]) | Releases::Counts([]) | Releases::Randomised([]), _) => {
                Err(InferError::NoRelease)
            }
            (Releases::Sums(releases), None) => Ok(if featureless(releases) { Normal } else { Linear }),
            (Releases::Sums(releases), Some(Normal)) if !featureless(releases) => {
                refuse("normal: the releases have features; say linear, or release `y ~ 1`")
            }
            (Releases::Sums(_), Some(model @ (Linear | Normal | Logistic))) => Ok(model),
            (Releases::Sums(_), Some(_)) => {
                refuse("releases of sums are fitted by linear, normal and logistic")
            }
            (_, None) => Ok(if two(columns) { Proportion } else { Table }),
            (_, Some(Proportion)) if !two(columns) => {
                refuse("proportion: the release is not about one column of two levels; say table")
            }
            (Releases::Randomised(_), Some(NaiveBayes)) => {
                refuse("randomised answers are fitted with a probability for every cell: say table")
            }
            (_, Some(model)) if model.is_of_levels() => Ok(model),
            (Releases::Counts(_), Some(_)) => {
                refuse("releases of counts are fitted by proportion, table and naive-bayes")
            }
            (_, Some(_)) => refuse("randomised answers are fitted by proportion and table"),
        }
    }
}
