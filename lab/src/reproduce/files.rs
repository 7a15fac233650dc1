//! Names and heads of files.

use std::path::{Path, PathBuf};

use super::{Experiment, Settings, Variant};

/// What results must have in common to stand in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The experiment.
    pub key: String,
    /// In which way it is repeated.
    pub variant: Variant,
    /// Version of the experiment.
    pub version: u32,
    /// The master seed.
    pub seed: u64,
    /// Names of the numbers of a row.
    pub columns: Vec<String>,
}

impl Identity {
    /// What this run's results have in common.
    pub fn of(experiment: &dyn Experiment, settings: &Settings) -> Self {
        Self {
            key: experiment.key().to_string(),
            variant: settings.variant,
            version: experiment.about().version,
            seed: settings.seed,
            columns: experiment.columns(settings.variant),
        }
    }

    /// Name that the files of these results share.
    pub fn stem(&self) -> String {
        format!("{}-{}", self.key, self.variant.word())
    }

    /// The file of all results.
    pub fn results(&self, folder: &Path) -> PathBuf {
        folder.join("results").join(format!("{}.csv", self.stem()))
    }

    /// The first lines of a file of results.
    pub fn head(&self, provenance: &Provenance, replicates: u64) -> String {
        format!(
            "# organza-lab reproduce {} --as {}\n# version = {}\n# seed = {}\n# tool = {}\n# date = {}\n# replicates = {replicates}\n\
             cell,replicate,{}\n",
            self.key,
            self.variant.word(),
            self.version,
            self.seed,
            provenance.tool,
            provenance.date,
            self.columns.join(",")
        )
    }
}

/// Who computed results, and when.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Provenance {
    /// Name and version of the program.
    pub tool: String,
    /// The day, as RFC 3339.
    pub date: String,
}
