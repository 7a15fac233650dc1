//! A folder of results: it appears whole or not at all.

use std::path::{Path, PathBuf};

use organza_curator::output::{narrow, remove_stale, temporary_prefix};

use crate::Error;

/// A folder that is written beside its destination and then renamed.
pub struct ResultFolder {
    temporary: tempfile::TempDir,
    destination: PathBuf,
    replace: bool,
    kind: Kind,
}

/// What kind of result, in words, and the names of its files: only such a folder is replaced.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// For example "a fit".
    pub what: &'static str,
    /// The names of its files.
    pub files: &'static [&'static str],
}

impl ResultFolder {
    /// Reserves the destination before any work is done.
    pub fn create(destination: &Path, replace: bool, kind: Kind) -> Result<Self, Error> {
        check_destination(destination, replace, kind)?;
        let parent = destination.parent().filter(|parent| !parent.as_os_str().is_empty());
        let (parent, prefix) = (parent.unwrap_or(Path::new(".")), temporary_prefix());
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix);
        // The user's mask decides who may read a result, not the habit of temporary folders.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
        let temporary = builder.tempdir_in(parent).map_err(|error| Error::unwritable(destination, error))?;
        remove_stale(parent, temporary.path().metadata());
        Ok(Self { temporary, destination: destination.to_path_buf(), replace, kind })
    }

    /// Makes the folder no more open than the table that it is about.
    pub fn as_private_as(&self, table: &Path) -> Result<(), Error> {
        narrow(self.path(), table).map_err(|error| self.broken(error))
    }

    /// Where the files are written for now.
    pub fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// The error for a file of this folder.
    pub fn broken(&self, error: impl std::fmt::Display) -> Error {
        Error::unwritable(&self.destination, error)
    }

    /// Writes a file of text.
    pub fn write(&self, name: &str, text: &str) -> Result<(), Error> {
        std::fs::write(self.path().join(name), text).map_err(|error| self.broken(error))
    }

    /// Gives the folder its name.
    pub fn finish(self) -> Result<(), Error> {
        let Self { temporary, destination, replace, kind } = self;
        let broken = |error: std::io::Error| Error::unwritable(&destination, error);
        check_destination(&destination, replace, kind)?;
        if destination.exists() {
            std::fs::remove_dir_all(&destination).map_err(broken)?;
        }
        std::fs::rename(temporary.keep(), &destination).map_err(broken)
    }
}

/// An existing folder is replaced only on demand, and only if it is an earlier result of the same kind.
fn check_destination(destination: &Path, replace: bool, kind: Kind) -> Result<(), Error> {
    if !destination.exists() {
        return Ok(());
    }
    if !replace {
        return Err(Error::Exists { path: destination.display().to_string() });
    }
    let entries = std::fs::read_dir(destination).map_err(|error| Error::unwritable(destination, error))?;
    for entry in entries {
        let file = entry.map_err(|error| Error::unwritable(destination, error))?.file_name();
        if !kind.files.iter().any(|known| file == *known) {
            let (file, what) = (file.to_string_lossy(), kind.what);
            let problem = format!("it holds {file}, which is not of {what}: not replaced");
            return Err(Error::unusable(destination, problem));
        }
    }
    Ok(())
}
