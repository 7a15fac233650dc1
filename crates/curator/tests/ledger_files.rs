//! Files that are not sound ledgers: each is refused with an error that says what it is.
#![allow(clippy::unwrap_used)]

mod ledger_place;

use ledger_place::{account, place};
use organza_curator::ledger::{Charge, Ledger, LedgerError};
use organza_release::Neighbours;
use organza_release::loss::Mechanism;
use rusqlite::Connection;
use std::path::{Path, PathBuf};

fn charge(description: &str) -> Charge {
    Charge {
        mechanism: Mechanism::Pure { epsilon: 0.001 },
        total_variation: 0.0,
        neighbours: Some(Neighbours::Substitute),
        claimed_epsilon: 0.001,
        claimed_delta: 0.0,
        description: description.to_owned(),
    }
}

/// A ledger of many pages.
fn write_long_ledger(path: &Path) {
    let mut ledger = Ledger::open(path).unwrap();
    ledger.set_budget(&account(), 1.0, 0.0, None).unwrap();
    for _ in 0..20 {
        ledger.charge(&account(), &charge(&"long ".repeat(400))).unwrap();
    }
}

/// Both ways to open refuse the file; the error of the first is returned, as text.
fn refusal(path: &Path) -> (LedgerError, String) {
    let before = std::fs::read(path).unwrap();
    let error = Ledger::open(path).unwrap_err();
    let reading = Ledger::open_read_only(path).unwrap_err();
    let message = error.to_string();
    assert_eq!(message, reading.to_string());
    assert!(message.starts_with(&path.display().to_string()), "{message}");
    assert_eq!(std::fs::read(path).unwrap(), before, "the file is left as it was");
    (error, message)
}

#[test]
fn text_is_not_a_ledger() {
    let (_folder, path) = place();
    std::fs::write(&path, "dataset,party,epsilon\n".repeat(100)).unwrap();
    let (error, message) = refusal(&path);
    assert!(matches!(error, LedgerError::NotALedger { .. }), "{message}");
}

#[test]
fn an_empty_file_is_not_a_new_ledger() {
    let (_folder, path) = place();
    std::fs::write(&path, "").unwrap();
    let (error, message) = refusal(&path);
    assert!(matches!(error, LedgerError::NotALedger { .. }) && message.contains("empty"), "{message}");
}

#[test]
fn a_database_of_another_program_is_not_a_ledger() {
    let (_folder, path) = place();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE charges (epsilon REAL)").unwrap();
    let (error, message) = refusal(&path);
    assert!(matches!(error, LedgerError::NotALedger { .. }), "{message}");
    assert!(message.contains("another program"), "{message}");
}

#[test]
fn a_newer_ledger_is_refused() {
    let (_folder, path) = place();
    drop(Ledger::open(&path).unwrap());
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 4).unwrap();
    let (error, message) = refusal(&path);
    assert!(matches!(error, LedgerError::Newer { found: 4, known: 3, .. }), "{message}");
    assert!(message.contains("update"), "{message}");
}

#[test]
fn damage_is_noticed_on_opening() {
    let (_folder, path) = place();
    write_long_ledger(&path);
    let sound = std::fs::read(&path).unwrap();
    let pages = sound.len() / 4096;
    assert!(pages > 8, "{pages}");
    for page in [1, 2, pages / 2] {
        let mut damaged = sound.clone();
        damaged[page * 4096..(page + 1) * 4096].fill(0xA5);
        std::fs::write(&path, damaged).unwrap();
        let (error, message) = refusal(&path);
        assert!(matches!(error, LedgerError::Damaged { .. }), "page {page}: {message}");
        assert!(message.contains("restore it from a copy"), "{message}");
    }
    std::fs::write(&path, &sound[..sound.len() / 2]).unwrap();
    let (error, message) = refusal(&path);
    assert!(matches!(error, LedgerError::Damaged { .. }), "cut in half: {message}");
}

#[test]
fn a_row_that_no_ledger_writes_is_damage() {
    let (_folder, path) = place();
    write_long_ledger(&path);
    let forged = "INSERT INTO charges (dataset, party, unit, kind, mu, total_variation, claimed_epsilon, claimed_delta,
        description, charged_at) VALUES ('admissions', 'north', 'record', 'gaussian', NULL, 0, 1, 0, '', '')";
    for statement in [forged, "UPDATE datasets SET epsilon = 100"] {
        Connection::open(&path).unwrap().execute(statement, []).unwrap();
        let (error, message) = refusal(&path);
        assert!(matches!(error, LedgerError::Damaged { .. }) && message.contains("checksum"), "{message}");
    }
}

/// Flips one bit at a time over the whole file: a ledger that opens must say what it said before.
#[test]
fn a_flipped_bit_is_refused_or_changes_nothing() {
    let (_folder, path) = place();
    write_long_ledger(&path);
    let said = |ledger: &Ledger| {
        let charges = ledger.charges(&account()).unwrap();
        format!("{:?} {charges:?}", ledger.accounts().unwrap())
    };
    let before = said(&Ledger::open(&path).unwrap());
    let sound = std::fs::read(&path).unwrap();
    let mut refused = 0;
    for flip in 0..300 {
        let place = (flip * 7919 * 13) % sound.len();
        let mut damaged = sound.clone();
        damaged[place] ^= 1 << (flip % 8);
        std::fs::write(&path, damaged).unwrap();
        match Ledger::open_read_only(&path) {
            Err(_) => refused += 1,
            Ok(ledger) => assert_eq!(said(&ledger.unwrap()), before, "bit {} of byte {place}", flip % 8),
        }
    }
    assert!(refused > 80, "{refused} of 300: a third of the file is in use");
}

#[test]
fn what_is_spent_cannot_be_erased_by_accident() {
    let (_folder, path) = place();
    write_long_ledger(&path);
    let connection = Connection::open(&path).unwrap();
    for statement in
        ["DELETE FROM charges", "UPDATE charges SET epsilon = 0", "UPDATE charges SET party = 'x'"]
    {
        let error = connection.execute(statement, []).unwrap_err();
        assert!(error.to_string().contains("what is spent stays spent"), "{error}");
    }
}

#[test]
fn a_ledger_opened_for_reading_refuses_to_write() {
    let (_folder, path) = place();
    write_long_ledger(&path);
    let mut reader = Ledger::open_read_only(&path).unwrap().unwrap();
    let error = reader.charge(&account(), &charge("one more")).unwrap_err();
    assert!(matches!(error, LedgerError::NotWritable { .. }), "{error}");
    assert!(matches!(reader.set_budget(&account(), 2.0, 0.0, None), Err(LedgerError::NotWritable { .. })));
    assert_eq!(reader.charges(&account()).unwrap().len(), 20);
}

#[test]
fn a_folder_that_does_not_exist_is_named() {
    let (folder, _) = place();
    let path = folder.path().join("missing").join("ledger.sqlite");
    let error = Ledger::open(&path).unwrap_err();
    assert!(matches!(error, LedgerError::NotWritable { .. }), "{error}");
    assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    assert!(Ledger::open_read_only(&path).unwrap().is_none());
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_written_is_an_error() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, path) = place();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o555)).unwrap();
    // Permissions do not bind the superuser; nobody can create files in /proc.
    let superuser = std::fs::write(folder.path().join("probe"), "").is_ok();
    let path = if superuser { PathBuf::from("/proc/ledger.sqlite") } else { path };
    let error = Ledger::open(&path).unwrap_err();
    assert!(matches!(error, LedgerError::NotWritable { .. }), "{error}");
    assert!(error.to_string().contains("check the permissions"), "{error}");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
}
