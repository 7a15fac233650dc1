//! The models and methods of private chains: one word each, the same in code, command line and files.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::CuratorError;

/// A model that private chains know by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ChainModel {
    /// Normal response.
    Linear,
    /// Response 0 or 1.
    Logistic,
    /// Response a count.
    Poisson,
}

/// A private chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ChainMethod {
    /// Hamiltonian Monte Carlo with a noisy test.
    DpHmc,
    /// A random walk with a noisy test.
    DpPenalty,
    /// Langevin steps without a test.
    DpSgld,
    /// A thermostat without a test.
    DpSgnht,
}

impl ChainModel {
    /// All models.
    pub const ALL: [Self; 3] = [Self::Linear, Self::Logistic, Self::Poisson];

    /// Its one word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Logistic => "logistic",
            Self::Poisson => "poisson",
        }
    }
}

impl ChainMethod {
    /// All methods, in the order in which they are explained.
    pub const ALL: [Self; 4] = [Self::DpHmc, Self::DpPenalty, Self::DpSgld, Self::DpSgnht];

    /// Its one word.
    pub fn word(self) -> &'static str {
        match self {
            Self::DpHmc => "dp-hmc",
            Self::DpPenalty => "dp-penalty",
            Self::DpSgld => "dp-sgld",
            Self::DpSgnht => "dp-sgnht",
        }
    }

    /// Whether an acceptance test keeps the posterior as the target.
    pub fn is_exact(self) -> bool {
        matches!(self, Self::DpHmc | Self::DpPenalty)
    }

    /// What it computes, and what it assumes or ignores.
    pub fn description(self) -> (&'static str, &'static str) {
        match self {
            Self::DpHmc => (
                "the posterior, by noisy Hamiltonian proposals and a noisy acceptance test",
                "no ratio is clipped; noise and clipped gradients cost acceptance, not exactness",
            ),
            Self::DpPenalty => (
                "the posterior, by a random walk and a noisy acceptance test",
                "no ratio is clipped; noise costs acceptance, not exactness",
            ),
            Self::DpSgld => (
                "nearly the posterior, by noisy Langevin steps over samples of the records",
                "steps are small and no gradient is clipped: there is no test that would correct it",
            ),
            Self::DpSgnht => (
                "nearly the posterior, by a thermostat that absorbs the noise of sampled gradients",
                "steps are small, noise is alike in all coordinates and no gradient is clipped",
            ),
        }
    }
}

impl fmt::Display for ChainModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

impl fmt::Display for ChainMethod {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

impl Serialize for ChainModel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl Serialize for ChainMethod {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl FromStr for ChainModel {
    type Err = CuratorError;

    fn from_str(text: &str) -> Result<Self, CuratorError> {
        find("model", text, &Self::ALL, Self::word)
    }
}

impl FromStr for ChainMethod {
    type Err = CuratorError;

    fn from_str(text: &str) -> Result<Self, CuratorError> {
        find("method", text, &Self::ALL, Self::word)
    }
}

/// The item of this word, or an error that lists all words.
fn find<T: Copy>(
    field: &'static str,
    text: &str,
    all: &[T],
    word: impl Fn(T) -> &'static str,
) -> Result<T, CuratorError> {
    all.iter().copied().find(|item| word(*item) == text).ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|item| word(*item)).collect();
        CuratorError::setting(field, format!("{text:?} is not known; there are {}", known.join(", ")))
    })
}
