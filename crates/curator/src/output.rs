//! Files that appear whole or not at all.

use std::io::Write;
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
    overwrite: bool,
}

impl PendingFile {
    /// Reserves a destination.
    pub fn create(destination: &Path, overwrite: bool) -> Result<Self, CuratorError> {
        if !overwrite && destination.exists() {
            return Err(CuratorError::OutputExists { path: destination.display().to_string() });
        }
        let parent = destination.parent().filter(|parent| !parent.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        builder.prefix(".organza-");
        readable_by_others(&mut builder);
        let temporary = builder.tempfile_in(parent.unwrap_or(Path::new("."))).map_err(|error| {
            CuratorError::unwritable(destination.display(), format!("cannot be written: {error}"))
        })?;
        Ok(Self { temporary, destination: destination.to_path_buf(), overwrite })
    }

    /// Adds text.
    pub fn write(&mut self, text: &str) -> Result<(), CuratorError> {
        self.temporary.write_all(text.as_bytes()).map_err(|error| fail(&self.destination, error))
    }

    /// Forces the text to disk and gives the file its name.
    pub fn finish(self) -> Result<(), CuratorError> {
        let Self { temporary, destination, overwrite } = self;
        temporary.as_file().sync_all().map_err(|error| fail(&destination, error))?;
        let persisted = if overwrite {
            temporary.persist(&destination)
        } else {
            temporary.persist_noclobber(&destination)
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
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_behind_unless_finished() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        let mut pending = PendingFile::create(&path, false).unwrap();
        pending.write("half").unwrap();
        drop(pending);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let mut pending = PendingFile::create(&path, false).unwrap();
        pending.write("whole").unwrap();
        pending.finish().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "whole");
    }

    #[test]
    fn an_existing_file_is_kept_even_if_it_appears_late() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        let pending = PendingFile::create(&path, false).unwrap();
        std::fs::write(&path, "theirs").unwrap();
        assert!(pending.finish().unwrap_err().to_string().contains("--force"));
        assert!(PendingFile::create(&path, false).is_err());
        let mut pending = PendingFile::create(&path, true).unwrap();
        pending.write("ours").unwrap();
        pending.finish().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "ours");
    }

    #[test]
    fn an_unwritable_directory_is_found_at_once() {
        let error = PendingFile::create(Path::new("/no/such/folder/a.json"), false).unwrap_err();
        assert!(error.to_string().starts_with("/no/such/folder/a.json: cannot be written"), "{error}");
    }
}
