//! Temporary files and folders that a killed process left behind.

use std::fs::{DirEntry, Metadata};
use std::path::Path;
use std::time::{Duration, SystemTime};

const BEGIN: &str = ".organza-";

/// How long a file is left alone even if its process is not seen here: another machine may be at work in a shared folder.
const LEFT_ALONE: Duration = Duration::from_secs(24 * 3600);

/// How the names of temporary files and folders of this process begin.
pub fn temporary_prefix() -> String {
    format!("{BEGIN}{}-", std::process::id())
}

/// Removes what is surely nobody's: old files and folders of our own with our name, of a process that no longer lives. `own` is a file or
/// folder of ours.
pub fn remove_stale(folder: &Path, own: std::io::Result<Metadata>) {
    let (Ok(entries), Ok(own)) = (folder.read_dir(), own) else { return };
    for entry in entries.flatten().filter(|entry| is_stale(entry, &own)) {
        // What stays is no reason to fail.
        let _ = if own.is_dir() {
            std::fs::remove_dir_all(entry.path())
        } else {
            std::fs::remove_file(entry.path())
        };
    }
}

fn is_stale(entry: &DirEntry, own: &Metadata) -> bool {
    let name = entry.file_name();
    let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(BEGIN)) else { return false };
    let (process, random) = rest.split_once('-').unwrap_or(("", rest));
    let ours = random.len() == 6
        && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && process.bytes().all(|byte| byte.is_ascii_digit());
    // The entry itself, not what a link points to.
    let Ok(found) = entry.metadata() else { return false };
    let age = found.modified().ok().and_then(|time| SystemTime::now().duration_since(time).ok());
    ours && found.file_type() == own.file_type()
        && same_owner(&found, own)
        && age.is_some_and(|age| age > LEFT_ALONE)
        && !Path::new("/proc").join(if process.is_empty() { "none" } else { process }).exists()
}

fn same_owner(found: &Metadata, own: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        found.uid() == own.uid()
    }
    #[cfg(not(unix))]
    {
        let _ = (found, own);
        true
    }
}
