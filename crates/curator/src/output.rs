//! Files that appear whole or not at all, and replace nothing but their own kind.

mod stale;

pub use stale::{remove_stale, temporary_prefix};

use std::fs::Metadata;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::CuratorError;

/// A file that is written beside its destination and then renamed.
///
/// Opening it early finds an existing file or an unwritable directory before any budget is spent.
#[derive(Debug)]
pub struct PendingFile {
    temporary: NamedTempFile,
    destination: PathBuf,
    replace: Option<Replace>,
}

/// Which existing files may be replaced: whatever else is there, a table or a ledger, was not asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replace {
    /// Releases, one or many, and files of bounds that say where they come from.
    Published,
    /// A table of predictions.
    Predictions,
    /// Any regular file, in a folder that is the program's own.
    AnyFile,
}

/// How bounds begin that the program wrote.
const BOUNDS_BEGIN: [&str; 3] = ["# Public bounds:", "# Private bounds:", "# Common bounds:"];

/// How a table of predictions begins.
pub const PREDICTIONS_BEGIN: &str = "row,mean,sd,lower,upper";

impl Replace {
    fn knows(self, beginning: &str) -> bool {
        match self {
            Self::Published => {
                is_release(beginning).is_some()
                    || BOUNDS_BEGIN.iter().any(|begin| beginning.starts_with(begin))
            }
            Self::Predictions => beginning.starts_with(PREDICTIONS_BEGIN),
            Self::AnyFile => true,
        }
    }

    /// Refuses what is not replaced, and says what it is.
    fn check(self, path: &Path) -> Result<(), CuratorError> {
        let Ok(metadata) = path.symlink_metadata() else { return Ok(()) };
        let mut beginning = Vec::new();
        if metadata.is_file() {
            let file =
                std::fs::File::open(path).map_err(|error| CuratorError::file(path.display(), error))?;
            file.take(256)
                .read_to_end(&mut beginning)
                .map_err(|error| CuratorError::file(path.display(), error))?;
        }
        let beginning = String::from_utf8_lossy(&beginning);
        if metadata.is_file() && (beginning.is_empty() || self.knows(&beginning)) {
            return Ok(());
        }
        let path = path.display().to_string();
        Err(CuratorError::NotReplaced { path, what: what_it_is(&metadata, &beginning) })
    }
}

/// The first key of a release is its schema.
fn is_release(beginning: &str) -> Option<&str> {
    let key = beginning.strip_prefix('{')?.trim_start().strip_prefix("\"schema\"")?;
    key.trim_start().strip_prefix(':')?.trim_start().strip_prefix("\"organza/")
}

fn what_it_is(metadata: &Metadata, beginning: &str) -> &'static str {
    match () {
        () if metadata.is_dir() => "a folder",
        () if metadata.is_symlink() => "a link",
        () if !metadata.is_file() => "a device or a pipe",
        () if beginning.starts_with("SQLite format 3") => "a ledger",
        () => "not a file of this kind that organza wrote",
    }
}

/// Whether two paths are one file.
pub fn is_same_file(left: &Path, right: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let identity = |path: &Path| path.metadata().ok().map(|data| (data.dev(), data.ino()));
        identity(left).is_some() && identity(left) == identity(right)
    }
    #[cfg(not(unix))]
    {
        left.canonicalize().is_ok_and(|left| right.canonicalize().is_ok_and(|right| left == right))
    }
}

impl PendingFile {
    /// Reserves a destination of what is published; `overwrite` replaces an earlier one.
    pub fn create(destination: &Path, overwrite: bool) -> Result<Self, CuratorError> {
        Self::replacing(destination, overwrite.then_some(Replace::Published))
    }

    /// Reserves a destination and says what may be replaced there.
    pub fn replacing(destination: &Path, replace: Option<Replace>) -> Result<Self, CuratorError> {
        match replace {
            None if destination.symlink_metadata().is_ok() => {
                return Err(CuratorError::OutputExists { path: destination.display().to_string() });
            }
            None => {}
            Some(replace) => replace.check(destination)?,
        }
        let parent = destination.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        let prefix = temporary_prefix();
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix);
        readable_by_others(&mut builder);
        let temporary = builder.tempfile_in(parent).map_err(|error| {
            CuratorError::unwritable(destination.display(), format!("cannot be written: {error}"))
        })?;
        remove_stale(parent, temporary.as_file().metadata());
        Ok(Self { temporary, destination: destination.to_path_buf(), replace })
    }

    /// Makes the file no more open than the table whose values it holds; for the owner alone if that is no regular file.
    pub fn as_private_as(&self, table: &Path) -> Result<(), CuratorError> {
        narrow(self.temporary.path(), table).map_err(|error| fail(&self.destination, error))
    }

    /// Adds text.
    pub fn write(&mut self, text: &str) -> Result<(), CuratorError> {
        self.temporary.write_all(text.as_bytes()).map_err(|error| fail(&self.destination, error))
    }

    /// Forces the text to disk and gives the file its name.
    pub fn finish(self) -> Result<(), CuratorError> {
        let Self { temporary, destination, replace } = self;
        temporary.as_file().sync_all().map_err(|error| fail(&destination, error))?;
        let persisted = match replace {
            Some(replace) => {
                // Something else may have come there meanwhile.
                replace.check(&destination)?;
                temporary.persist(&destination)
            }
            None => temporary.persist_noclobber(&destination),
        };
        match persisted {
            Ok(_) => Ok(()),
            Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => {
                Err(CuratorError::OutputExists { path: destination.display().to_string() })
            }
            Err(error) => Err(fail(&destination, error.error)),
        }
    }
}

/// Makes a file or folder of ours no more open than a table; for the owner alone if that is no regular file.
pub fn narrow(ours: &Path, table: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |data: Metadata| data.permissions().mode();
        let table = table.metadata().ok().filter(Metadata::is_file).map_or(0, mode) & 0o666;
        // Whoever may read the table may enter the folder.
        let allowed = 0o700 | table | ((table & 0o444) >> 2);
        let now = ours.metadata().map(mode)?;
        std::fs::set_permissions(ours, PermissionsExt::from_mode(now & allowed & 0o777))?;
    }
    #[cfg(not(unix))]
    let _ = (ours, table);
    Ok(())
}

fn fail(destination: &Path, error: std::io::Error) -> CuratorError {
    CuratorError::unwritable(destination.display(), format!("nothing was written: {error}"))
}

/// A release is meant to be published: the user's mask decides, not the habit of temporary files.
fn readable_by_others(builder: &mut tempfile::Builder<'_, '_>) {
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    #[cfg(not(unix))]
    let _ = builder;
}

#[cfg(test)]
mod tests;
