//! Releases with the files they come from, so that errors can name them.

use std::path::{Path, PathBuf};

use organza::ReleaseSet;
use organza_infer::{InferError, Releases};
use organza_mcmc::RunError;
use organza_release::{Kind, Release};

use super::failure::Failure;

/// Releases of one kind with the files they come from.
pub struct Sources {
    /// The file of every release.
    files: Vec<String>,
    held: ReleaseSet,
    /// The file of the prior, for errors.
    pub prior: Option<String>,
}

impl Sources {
    /// Reads files and folders in order; all must be of the first one's kind.
    pub fn read(paths: &[String]) -> Result<Self, Failure> {
        let (mut files, mut held) = (Vec::new(), ReleaseSet::Sums(Vec::new()));
        for path in paths {
            for file in files_of(Path::new(path))? {
                let count = held.add(&file)?;
                files.extend(std::iter::repeat_n(file.display().to_string(), count));
            }
        }
        Ok(Self { files, held, prior: None })
    }

    /// What an analyst may fit.
    pub fn releases(&self) -> Releases<'_> {
        (&self.held).into()
    }

    /// Releases of sums, which linear models need.
    pub fn sums(&self) -> Result<&[Release], Failure> {
        let kind = match &self.held {
            ReleaseSet::Sums(releases) => return Ok(releases),
            ReleaseSet::Counts(_) => Kind::Counts,
            ReleaseSet::Randomised(_) => Kind::Randomised,
        };
        Err(Failure::bad_input(format!(
            "{}: is {kind}; methods are for linear models, from releases of sums",
            self.files[0]
        )))
    }

    fn party(&self, index: usize) -> &str {
        match &self.held {
            ReleaseSet::Sums(releases) => &releases[index].party,
            ReleaseSet::Counts(releases) => &releases[index].party,
            ReleaseSet::Randomised(releases) => &releases[index].party,
        }
    }

    /// Says which files an error is about.
    pub fn explain(&self, error: InferError) -> Failure {
        let parties: Vec<&String> = match &error {
            InferError::Disagreement { first, second, .. } => vec![first, second],
            InferError::Duplicate { party } | InferError::Unsupported { party, .. } => vec![party],
            InferError::MissingEntry { party, .. } => vec![party],
            InferError::Run(RunError::Plan { .. }) => return Failure::bad_input(error),
            InferError::Run(_) => return Failure::failed(error),
            InferError::Prior { .. } => {
                let file = self.prior.as_ref().map_or(String::new(), |file| format!("{file}: "));
                return Failure::bad_input(format!("{file}{error}"));
            }
            _ => return Failure::bad_input(error),
        };
        let about = |index: &usize| parties.iter().any(|party| *party == self.party(*index));
        let mut files: Vec<&str> =
            (0..self.files.len()).filter(about).map(|index| self.files[index].as_str()).collect();
        files.dedup();
        let hint = match error {
            InferError::Duplicate { .. } => "; if they are about different records, say --allow-duplicates",
            _ => "",
        };
        Failure::bad_input(format!("{error}{hint} ({})", files.join(", ")))
    }
}

/// The release files of a folder in the order of their names, or the file itself.
pub fn files_of(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    Ok(organza::releases::files_of(path)?)
}
