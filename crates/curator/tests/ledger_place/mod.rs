//! A place for a ledger, and an account in it.

use organza_curator::ledger::Account;
use std::path::PathBuf;
use tempfile::TempDir;

pub fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite");
    (folder, path)
}

pub fn account() -> Account {
    Account::new("admissions", "north")
}
