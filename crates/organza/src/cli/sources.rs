//! Releases with the files they come from, so that errors can name them.

use std::path::{Path, PathBuf};

use organza_infer::{InferError, Releases};
use organza_mcmc::RunError;
use organza_release::{CountRelease, Document, Kind, RandomisedRelease, Release, kind_of};

use super::failure::Failure;
use super::inspect;

/// Releases of one kind with the files they come from.
pub struct Sources {
    /// The file of every release.
    files: Vec<String>,
    held: Held,
    /// The file of the prior, for errors.
    pub prior: Option<String>,
}

enum Held {
    Sums(Vec<Release>),
    Counts(Vec<CountRelease>),
    Randomised(Vec<RandomisedRelease>),
}

impl Sources {
    /// Reads files and folders in order; all must be of the first one's kind.
    pub fn read(paths: &[String]) -> Result<Self, Failure> {
        let mut sources = Self { files: Vec::new(), held: Held::Sums(Vec::new()), prior: None };
        for path in paths {
            for file in files_of(Path::new(path))? {
                let (bytes, name) = inspect::read_bytes(&file)?;
                if sources.files.is_empty() {
                    sources.held = match kind_of(&bytes) {
                        Some(Kind::Counts) => Held::Counts(Vec::new()),
                        Some(Kind::Randomised) => Held::Randomised(Vec::new()),
                        _ => Held::Sums(Vec::new()),
                    };
                }
                let count = match &mut sources.held {
                    Held::Sums(releases) => add(releases, &bytes, &name)?,
                    Held::Counts(releases) => add(releases, &bytes, &name)?,
                    Held::Randomised(releases) => add(releases, &bytes, &name)?,
                };
                sources.files.extend(std::iter::repeat_n(name, count));
            }
        }
        Ok(sources)
    }

    /// What an analyst may fit.
    pub fn releases(&self) -> Releases<'_> {
        match &self.held {
            Held::Sums(releases) => releases.into(),
            Held::Counts(releases) => releases.into(),
            Held::Randomised(releases) => releases.into(),
        }
    }

    /// Releases of sums, which linear models need.
    pub fn sums(&self) -> Result<&[Release], Failure> {
        let kind = match &self.held {
            Held::Sums(releases) => return Ok(releases),
            Held::Counts(_) => Kind::Counts,
            Held::Randomised(_) => Kind::Randomised,
        };
        Err(Failure::bad_input(format!(
            "{}: is {kind}; methods are for linear models, from releases of sums",
            self.files[0]
        )))
    }

    fn party(&self, index: usize) -> &str {
        match &self.held {
            Held::Sums(releases) => &releases[index].party,
            Held::Counts(releases) => &releases[index].party,
            Held::Randomised(releases) => &releases[index].party,
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

/// Adds the releases of a file and says how many they are.
fn add<D: Document>(releases: &mut Vec<D>, bytes: &[u8], name: &str) -> Result<usize, Failure> {
    let found = D::read_many(bytes, name)?;
    let count = found.len();
    releases.extend(found);
    Ok(count)
}

/// The release files of a folder in the order of their names, or the file itself.
pub fn files_of(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    Ok(organza::releases::files_of(path)?)
}
