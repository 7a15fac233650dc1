//! Releases from files and folders.

use std::path::{Path, PathBuf};

use organza_infer::Releases;
use organza_release::{CountRelease, Document, Kind, RandomisedRelease, Release, kind_of};

use crate::Error;

/// Releases of one kind.
#[derive(Debug, Clone, PartialEq)]
pub enum ReleaseSet {
    /// Sums of products, for regressions.
    Sums(Vec<Release>),
    /// Contingency tables.
    Counts(Vec<CountRelease>),
    /// Randomised answers.
    Randomised(Vec<RandomisedRelease>),
}

impl ReleaseSet {
    /// Reads files and folders in order; all must be of the first one's kind.
    pub fn read<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Self, Error> {
        let mut set = Self::Sums(Vec::new());
        for path in paths {
            for file in files_of(path.as_ref())? {
                set.add(&file)?;
            }
        }
        Ok(set)
    }

    /// Adds the releases of a file and says how many they are. The first file decides the kind.
    pub fn add(&mut self, file: &Path) -> Result<usize, Error> {
        let bytes = std::fs::read(file).map_err(|error| Error::unusable(file, error))?;
        let name = file.display().to_string();
        if self.is_empty() {
            *self = match kind_of(&bytes) {
                Some(Kind::Counts) => Self::Counts(Vec::new()),
                Some(Kind::Randomised) => Self::Randomised(Vec::new()),
                _ => Self::Sums(Vec::new()),
            };
        }
        match self {
            Self::Sums(releases) => append(releases, &bytes, &name),
            Self::Counts(releases) => append(releases, &bytes, &name),
            Self::Randomised(releases) => append(releases, &bytes, &name),
        }
    }

    /// Whether there is none yet.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Sums(releases) => releases.is_empty(),
            Self::Counts(releases) => releases.is_empty(),
            Self::Randomised(releases) => releases.is_empty(),
        }
    }
}

impl<'r> From<&'r ReleaseSet> for Releases<'r> {
    fn from(set: &'r ReleaseSet) -> Self {
        match set {
            ReleaseSet::Sums(releases) => releases.into(),
            ReleaseSet::Counts(releases) => releases.into(),
            ReleaseSet::Randomised(releases) => releases.into(),
        }
    }
}

fn append<D: Document>(releases: &mut Vec<D>, bytes: &[u8], name: &str) -> Result<usize, Error> {
    let found = D::read_many(bytes, name)?;
    let count = found.len();
    releases.extend(found);
    Ok(count)
}

/// The release files of a folder in the order of their names, or the file itself.
pub fn files_of(path: &Path) -> Result<Vec<PathBuf>, Error> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let fail = |error: std::io::Error| Error::unusable(path, error);
    let entries = std::fs::read_dir(path).map_err(fail)?.collect::<Result<Vec<_>, _>>().map_err(fail)?;
    let json = |path: &PathBuf| path.extension().is_some_and(|end| end == "json" || end == "jsonl");
    let mut files: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).filter(json).collect();
    files.sort();
    if files.is_empty() {
        return Err(Error::unusable(path, "there is no .json file in this folder"));
    }
    Ok(files)
}
