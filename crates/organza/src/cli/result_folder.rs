//! A folder of results: it appears whole or not at all.

use std::path::{Path, PathBuf};

use super::failure::Failure;

/// A folder that is written beside its destination and then renamed.
pub struct ResultFolder {
    temporary: tempfile::TempDir,
    destination: PathBuf,
    overwrite: bool,
    kind: Kind,
}

/// What kind of result, in words, and the names of its files: only such a folder is replaced.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    pub what: &'static str,
    pub files: &'static [&'static str],
}

impl ResultFolder {
    /// Reserves the destination before any work is done.
    pub fn create(destination: &Path, overwrite: bool, kind: Kind) -> Result<Self, Failure> {
        check_destination(destination, overwrite, kind)?;
        let parent = destination.parent().filter(|parent| !parent.as_os_str().is_empty());
        let temporary = tempfile::Builder::new()
            .prefix(".organza-")
            .tempdir_in(parent.unwrap_or(Path::new(".")))
            .map_err(|error| cannot_be_written(destination, error))?;
        Ok(Self { temporary, destination: destination.to_path_buf(), overwrite, kind })
    }

    /// Where the files are written for now.
    pub fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// The error for a file of this folder.
    pub fn broken(&self, error: impl std::fmt::Display) -> Failure {
        cannot_be_written(&self.destination, error)
    }

    /// Writes a file of text.
    pub fn write(&self, name: &str, text: &str) -> Result<(), Failure> {
        std::fs::write(self.path().join(name), text).map_err(|error| self.broken(error))
    }

    /// Gives the folder its name.
    pub fn finish(self) -> Result<(), Failure> {
        let Self { temporary, destination, overwrite, kind } = self;
        let broken = |error: std::io::Error| cannot_be_written(&destination, error);
        check_destination(&destination, overwrite, kind)?;
        if destination.exists() {
            std::fs::remove_dir_all(&destination).map_err(broken)?;
        }
        std::fs::rename(temporary.keep(), &destination).map_err(broken)?;
        readable_by_others(&destination);
        Ok(())
    }
}

/// An existing folder is replaced only on demand, and only if it is an earlier result of the same kind.
fn check_destination(destination: &Path, overwrite: bool, kind: Kind) -> Result<(), Failure> {
    let name = destination.display();
    if !destination.exists() {
        return Ok(());
    }
    if !overwrite {
        return Err(Failure::bad_input(format!("{name} exists: choose another folder or say --force")));
    }
    let entries = std::fs::read_dir(destination).map_err(|error| cannot_be_written(destination, error))?;
    for entry in entries {
        let file = entry.map_err(|error| cannot_be_written(destination, error))?.file_name();
        if !kind.files.iter().any(|known| file == *known) {
            let (file, what) = (file.to_string_lossy(), kind.what);
            return Err(Failure::bad_input(format!(
                "{name} holds {file}, which is not of {what}: not replaced"
            )));
        }
    }
    Ok(())
}

/// Temporary folders are private; a result need not be.
fn readable_by_others(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // A folder that stays private is no reason to fail.
        let _ = std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755));
    }
}

fn cannot_be_written(destination: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::failed(format!("{}: cannot be written: {error}", destination.display()))
}
