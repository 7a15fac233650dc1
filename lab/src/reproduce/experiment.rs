//! What a reproduction is made of.

use std::str::FromStr;

use serde::Serialize;

use super::{Report, ReproduceError, Results};

/// In which way an experiment is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// With what the authors' code really did.
    Published,
    /// With what the paper says, at the guarantee that it claims.
    Claimed,
    /// With our own defaults, at the same true guarantee.
    Ours,
}

impl Variant {
    /// All of them.
    pub const ALL: [Variant; 3] = [Variant::Published, Variant::Claimed, Variant::Ours];

    /// The word on the command line and in the names of files.
    pub fn word(self) -> &'static str {
        match self {
            Variant::Published => "published",
            Variant::Claimed => "claimed",
            Variant::Ours => "ours",
        }
    }
}

impl FromStr for Variant {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let found = Variant::ALL.into_iter().find(|variant| variant.word() == word);
        found.ok_or_else(|| format!("{word:?} is none of published, claimed, ours"))
    }
}

/// What an experiment is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// Its name on the command line: paper, then place.
    pub key: &'static str,
    /// One line about it.
    pub title: &'static str,
    /// The folder of the paper.
    pub paper: &'static str,
    /// To be raised with every change that alters numbers: kept results of another version are refused.
    pub version: u32,
    /// Minutes for all replicates of its slowest variant on two cores, as measured once.
    pub minutes: u32,
}

/// A table or figure of a paper.
pub trait Experiment: Sync {
    /// Its names.
    fn about(&self) -> About;

    /// Its name on the command line.
    fn key(&self) -> &'static str {
        self.about().key
    }

    /// In which ways it can be repeated.
    fn variants(&self) -> &'static [Variant];

    /// How many replicates of each cell there are if nobody says otherwise.
    fn replicates(&self, variant: Variant) -> u64;

    /// Names of the numbers that a replicate computes.
    fn columns(&self, variant: Variant) -> Vec<String>;

    /// Whether time is measured, so that replicates must run one after the other.
    fn is_timed(&self) -> bool {
        false
    }

    /// Reads data and gets ready to compute.
    fn prepare(&self, variant: Variant) -> Result<Box<dyn Study>, ReproduceError>;

    /// Compares results with what was published; it must not need data.
    fn report(&self, variant: Variant, results: &Results) -> Report;
}

/// An experiment that is ready to compute.
pub trait Study: Sync {
    /// Names of the configurations, without commas.
    fn cells(&self) -> Vec<String>;

    /// Computes one replicate of a configuration on one thread: a number for every column, NaN where there is none. The same seed
    /// gives the same numbers, but for times.
    fn replicate(&self, cell: usize, seed: u64) -> Result<Vec<f64>, String>;

    /// The same with a second seed that all cells of a replicate share, for instance to give them the same records; by default it is not used.
    fn paired(&self, cell: usize, seeds: Seeds) -> Result<Vec<f64>, String> {
        self.replicate(cell, seeds.own)
    }

    /// What a person should know before the work begins, for instance what is left out.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The seeds of one replicate of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seeds {
    /// Of this replicate of this cell alone.
    pub own: u64,
    /// Of this replicate of all cells.
    pub shared: u64,
}
