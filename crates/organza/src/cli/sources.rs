//! Releases with the files they come from, so that errors can name them.

use std::path::{Path, PathBuf};

use organza_infer::{InferError, Releases};
use organza_mcmc::RunError;
use organza_release::{CountRelease, Kind, RandomisedRelease, Release};

use super::failure::Failure;
use super::inspect;

/// Releases of one kind with the files they come from.
pub struct Sources<R> {
    files: Vec<String>,
    pub releases: Vec<R>,
    /// The file of the prior, for errors.
    pub prior: Option<String>,
}

/// Something that a party released.
pub trait OfParty {
    /// Its data holder.
    fn party(&self) -> &str;
}

macro_rules! of_party {
    ($($release:ty),*) => {$(
        impl OfParty for $release {
            fn party(&self) -> &str {
                &self.party
            }
        }
    )*};
}

of_party!(Release, CountRelease, RandomisedRelease);

impl<R: OfParty> Sources<R> {
    /// Reads files and folders in order.
    pub fn read(paths: &[String], read: impl Fn(&Path) -> Result<Vec<R>, Failure>) -> Result<Self, Failure> {
        let mut sources = Self { files: Vec::new(), releases: Vec::new(), prior: None };
        for path in paths {
            for file in files_of(Path::new(path))? {
                let found = read(&file)?;
                sources.files.extend(std::iter::repeat_n(file.display().to_string(), found.len()));
                sources.releases.extend(found);
            }
        }
        Ok(sources)
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
        let about = |index: &usize| parties.iter().any(|party| *party == self.releases[*index].party());
        let mut files: Vec<&str> =
            (0..self.releases.len()).filter(about).map(|index| self.files[index].as_str()).collect();
        files.dedup();
        let hint = match error {
            InferError::Duplicate { .. } => "; if they are about different records, say --allow-duplicates",
            _ => "",
        };
        Failure::bad_input(format!("{error}{hint} ({})", files.join(", ")))
    }
}

/// Releases of whatever kind the first file has.
pub enum AnySources {
    Sums(Sources<Release>),
    Counts(Sources<CountRelease>),
    Randomised(Sources<RandomisedRelease>),
}

impl AnySources {
    /// Reads files and folders in order; all must be of the first one's kind.
    pub fn read(paths: &[String]) -> Result<Self, Failure> {
        let first = paths.first().map(|path| files_of(Path::new(path))).transpose()?;
        let kind =
            first.and_then(|files| files.into_iter().next()).map(|file| inspect::kind(&file)).transpose()?;
        Ok(match kind.flatten() {
            Some(Kind::Counts) => Self::Counts(Sources::read(paths, inspect::read_kind)?),
            Some(Kind::Randomised) => Self::Randomised(Sources::read(paths, inspect::read_kind)?),
            _ => Self::Sums(Sources::read(paths, inspect::read)?),
        })
    }

    /// What an analyst may fit.
    pub fn releases(&self) -> Releases<'_> {
        match self {
            Self::Sums(sources) => Releases::Sums(&sources.releases),
            Self::Counts(sources) => Releases::Counts(&sources.releases),
            Self::Randomised(sources) => Releases::Randomised(&sources.releases),
        }
    }

    /// Remembers the file of the prior, for errors.
    pub fn set_prior(&mut self, path: Option<&Path>) {
        let prior = match self {
            Self::Sums(sources) => &mut sources.prior,
            Self::Counts(sources) => &mut sources.prior,
            Self::Randomised(sources) => &mut sources.prior,
        };
        *prior = path.map(|path| path.display().to_string());
    }

    /// Says which files an error is about.
    pub fn explain(&self, error: InferError) -> Failure {
        match self {
            Self::Sums(sources) => sources.explain(error),
            Self::Counts(sources) => sources.explain(error),
            Self::Randomised(sources) => sources.explain(error),
        }
    }
}

/// The release files of a folder in the order of their names, or the file itself.
pub fn files_of(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    Ok(organza::releases::files_of(path)?)
}
