//! The file behind a ledger: creating it, opening it, and refusing what is not one.

use super::error::{LedgerError, explain};
use super::store;
use crate::fingerprint::FingerprintKey;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// "OrgL" in ASCII: marks a SQLite file as a ledger.
const APPLICATION_ID: i64 = 0x4F72_674C;
/// The version of the schema with all upgrades.
const SCHEMA_VERSION: i64 = 3;
/// How long to wait for other writers.
const PATIENCE: Duration = Duration::from_secs(30);

const SCHEMA: &str = "
    CREATE TABLE budgets (
        dataset TEXT NOT NULL, party TEXT NOT NULL,
        epsilon REAL NOT NULL, delta REAL NOT NULL, set_at TEXT NOT NULL,
        PRIMARY KEY (dataset, party)
    ) STRICT;
    CREATE TABLE charges (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        dataset TEXT NOT NULL, party TEXT NOT NULL,
        kind TEXT NOT NULL, mu REAL, epsilon REAL, delta REAL, total_variation REAL NOT NULL,
        claimed_epsilon REAL NOT NULL, claimed_delta REAL NOT NULL, description TEXT NOT NULL,
        charged_at TEXT NOT NULL, output TEXT, published_at TEXT,
        FOREIGN KEY (dataset, party) REFERENCES budgets (dataset, party)
    ) STRICT;
    CREATE INDEX charges_by_account ON charges (dataset, party, id);
    CREATE TRIGGER charges_stay BEFORE DELETE ON charges
        BEGIN SELECT RAISE(ABORT, 'what is spent stays spent'); END;
    CREATE TRIGGER charges_do_not_change BEFORE UPDATE OF id, dataset, party, kind, mu, epsilon, delta,
        total_variation, claimed_epsilon, claimed_delta, description, charged_at ON charges
        BEGIN SELECT RAISE(ABORT, 'what is spent stays spent'); END;
";

/// Upgrades from each version to the next.
const UPGRADES: [&str; 2] = [MECHANISMS, DATASETS];

/// The second version: mechanisms that mu, epsilon and delta do not describe.
const MECHANISMS: &str = "
    ALTER TABLE charges ADD COLUMN mechanism TEXT;
    CREATE TRIGGER mechanisms_do_not_change BEFORE UPDATE OF mechanism ON charges
        BEGIN SELECT RAISE(ABORT, 'what is spent stays spent'); END;
    PRAGMA user_version = 2;
";

/// The third version: a budget belongs to a data set, whoever charges it; charges have a relation, which older ones did not
/// note; records are recognised by their content; a checksum. Where several parties had a data set of one name they keep
/// their own.
const DATASETS: &str = "
    CREATE TABLE ledger (key BLOB NOT NULL, checksum BLOB NOT NULL) STRICT;
    INSERT INTO ledger VALUES (randomblob(16), x'');
    CREATE TABLE datasets (
        name TEXT NOT NULL PRIMARY KEY, neighbours TEXT,
        epsilon REAL NOT NULL, delta REAL NOT NULL, set_at TEXT NOT NULL
    ) STRICT;
    CREATE TABLE contents (
        dataset TEXT NOT NULL REFERENCES datasets (name), content BLOB NOT NULL, PRIMARY KEY (dataset, content)
    ) STRICT;
    CREATE TEMP VIEW names AS SELECT dataset, party,
        iif(count(*) OVER (PARTITION BY dataset) > 1, dataset || ' of ' || party, dataset) AS name FROM main.budgets;
    INSERT INTO datasets SELECT name, 'substitute', epsilon, delta, set_at
        FROM budgets JOIN names USING (dataset, party);
    DROP TRIGGER charges_stay;
    DROP TRIGGER charges_do_not_change;
    DROP TRIGGER mechanisms_do_not_change;
    DROP INDEX charges_by_account;
    CREATE TABLE later (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        dataset TEXT NOT NULL REFERENCES datasets (name), party TEXT NOT NULL,
        unit TEXT NOT NULL CHECK (unit = 'record'), neighbours TEXT,
        kind TEXT NOT NULL, mu REAL, epsilon REAL, delta REAL, mechanism TEXT, total_variation REAL NOT NULL,
        claimed_epsilon REAL NOT NULL, claimed_delta REAL NOT NULL, description TEXT NOT NULL,
        charged_at TEXT NOT NULL, output TEXT, published_at TEXT
    ) STRICT;
    INSERT INTO later SELECT id, name, party, 'record', NULL, kind, mu, epsilon, delta, mechanism, total_variation,
        claimed_epsilon, claimed_delta, description, charged_at, output, published_at
        FROM charges JOIN names USING (dataset, party);
    DROP VIEW names;
    DROP TABLE charges;
    DROP TABLE budgets;
    ALTER TABLE later RENAME TO charges;
    CREATE INDEX charges_by_dataset ON charges (dataset, id);
    CREATE INDEX contents_by_content ON contents (content);
    CREATE TRIGGER charges_stay BEFORE DELETE ON charges
        BEGIN SELECT RAISE(ABORT, 'what is spent stays spent'); END;
    CREATE TRIGGER charges_do_not_change BEFORE UPDATE OF id, dataset, party, unit, neighbours, kind, mu, epsilon, delta,
        mechanism, total_variation, claimed_epsilon, claimed_delta, description, charged_at ON charges
        BEGIN SELECT RAISE(ABORT, 'what is spent stays spent'); END;
    PRAGMA user_version = 3;
";

pub(super) fn exists(path: &Path) -> Result<bool, LedgerError> {
    let failed = |source| LedgerError::File { path: path.to_owned(), action: "look for", source };
    path.try_exists().map_err(failed)
}

/// Creates an empty ledger, unless another process does so at the same moment.
///
/// It is made under another name and then linked to its own, which fails if that exists. So a file at `path`
/// is complete at every moment, and an empty one is a ledger that was cut off and must not pass for a new
/// one.
pub(super) fn create(path: &Path, key: Option<&FingerprintKey>) -> Result<(), LedgerError> {
    let draft = draft_path(path);
    let drafted = reserve(&draft).map_err(|source| not_created(path, source));
    let drafted = drafted.and_then(|()| write_draft(&draft, key).map_err(explain(path)));
    let linked = drafted.and_then(|()| match std::fs::hard_link(&draft, path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(not_created(path, error)),
        _ => Ok(()),
    });
    // The draft may not exist, and if it cannot be removed it does no harm.
    let _ = std::fs::remove_file(&draft);
    linked
}

/// An empty file that only its owner can read: a ledger is as private as its tables.
fn reserve(draft: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(draft).map(drop)
}

fn not_created(path: &Path, source: std::io::Error) -> LedgerError {
    let path = path.to_owned();
    match source.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::PermissionDenied => {
            LedgerError::NotWritable { path, detail: source.to_string() }
        }
        _ => LedgerError::File { path, action: "create", source },
    }
}

/// A name in the same folder that no other process and no other thread uses.
fn draft_path(path: &Path) -> PathBuf {
    static DRAFTS: AtomicU64 = AtomicU64::new(0);
    let draft = DRAFTS.fetch_add(1, Ordering::Relaxed);
    let now = jiff::Timestamp::now().as_nanosecond();
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".new-{}-{draft}-{now}", std::process::id()));
    PathBuf::from(name)
}

fn write_draft(draft: &Path, key: Option<&FingerprintKey>) -> rusqlite::Result<()> {
    let mut connection = Connection::open_with_flags(draft, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    configure(&connection)?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(SCHEMA)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", 1)?;
    upgrade_within(&transaction)?;
    if let Some(key) = key {
        transaction.execute("UPDATE ledger SET key = ?1", [key.bytes()])?;
        store::seal(&transaction)?;
    }
    transaction.commit()?;
    connection.close().map_err(|(_, error)| error)
}

/// Opens an existing ledger for writing.
pub(super) fn connect(path: &Path) -> Result<Connection, LedgerError> {
    let mut connection = open(path)?;
    upgrade(&mut connection).map_err(explain(path))?;
    Ok(connection)
}

fn open(path: &Path) -> Result<Connection, LedgerError> {
    let connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(explain(path))?;
    configure(&connection).map_err(explain(path))?;
    verify(&connection, path)?;
    Ok(connection)
}

/// Brings a ledger of an earlier version up to date. Whoever waits for the lock finds it done.
fn upgrade(connection: &mut Connection) -> rusqlite::Result<()> {
    if version(connection)? == SCHEMA_VERSION {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    upgrade_within(&transaction)?;
    transaction.commit()
}

fn upgrade_within(connection: &Connection) -> rusqlite::Result<()> {
    while let Some(upgrade) = UPGRADES.get(version(connection)? as usize - 1) {
        connection.execute_batch(upgrade)?;
    }
    store::seal(connection)
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Opens an existing ledger for reading; one of an earlier version as a copy that is brought up to date.
///
/// Not with a read-only handle: that could not roll back what a process left behind that died while writing.
pub(super) fn connect_to_read(path: &Path) -> Result<Connection, LedgerError> {
    let mut connection = open(path)?;
    if version(&connection).map_err(explain(path))? < SCHEMA_VERSION {
        connection = copy_in_memory(&connection).map_err(explain(path))?;
        upgrade(&mut connection).map_err(explain(path))?;
    }
    connection.pragma_update(None, "query_only", true).map_err(explain(path))?;
    Ok(connection)
}

fn copy_in_memory(connection: &Connection) -> rusqlite::Result<Connection> {
    let mut copy = Connection::open_in_memory()?;
    rusqlite::backup::Backup::new(connection, &mut copy)?.run_to_completion(1000, Duration::ZERO, None)?;
    Ok(copy)
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(PATIENCE)?;
    // A commit is on the disk, with its folder's entry, before the charge is reported as made.
    connection.pragma_update(None, "synchronous", "EXTRA")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)
}

fn verify(connection: &Connection, path: &Path) -> Result<(), LedgerError> {
    let number = |name: &str| {
        connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(explain(path))
    };
    if number("page_count")? == 0 {
        return Err(LedgerError::NotALedger {
            path: path.to_owned(),
            reason: "the file is empty".to_owned(),
        });
    }
    if number("application_id")? != APPLICATION_ID {
        let reason = "a database of another program".to_owned();
        return Err(LedgerError::NotALedger { path: path.to_owned(), reason });
    }
    let found = number("user_version")?;
    if found > SCHEMA_VERSION {
        return Err(LedgerError::Newer { path: path.to_owned(), found, known: SCHEMA_VERSION });
    }
    let report: String =
        connection.pragma_query_value(None, "integrity_check", |row| row.get(0)).map_err(explain(path))?;
    let damaged = |detail: String| Err(LedgerError::Damaged { path: path.to_owned(), detail });
    match report.as_str() {
        "ok" if found < 1 => damaged(format!("there is no version {found}")),
        "ok" if found < SCHEMA_VERSION || store::is_sealed(connection).map_err(explain(path))? => Ok(()),
        "ok" => damaged("what it says does not match its checksum".to_owned()),
        _ => damaged(report),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a ledger of the first version that cannot be read, or that is changed by reading.
    #[test]
    fn ledgers_of_the_first_version_are_read_and_upgraded() {
        use crate::ledger::{Account, Charge, Ledger};
        use organza_release::loss::Mechanism;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.sqlite");
        let old = Connection::open(&path).unwrap();
        old.execute_batch(SCHEMA).unwrap();
        old.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
        old.pragma_update(None, "user_version", 1).unwrap();
        old.execute_batch(
            "INSERT INTO budgets VALUES ('d', 'p', 2, 1e-6, 'then'), ('e', 'p', 1, 0, 'then'), ('e', 'q', 3, 0, 'then');
             INSERT INTO charges VALUES (2, 'e', 'q', 'pure', NULL, 0.7, NULL, 0, 0.7, 0, 'x', 'then', NULL, NULL);
             INSERT INTO charges VALUES (1, 'd', 'p', 'pure', NULL, 0.5, NULL, 0, 0.5, 0, 'x', 'then', NULL, NULL);",
        )
        .unwrap();
        drop(old);
        let (before, account) = (std::fs::read(&path).unwrap(), Account::new("d", "p"));
        let charges = Ledger::open_read_only(&path).unwrap().unwrap().charges(&account).unwrap();
        assert_eq!(charges[0].charge.mechanism, Mechanism::Pure { epsilon: 0.5 });
        assert_eq!(std::fs::read(&path).unwrap(), before);
        assert_eq!(charges[0].charge.neighbours, None);
        let charge = Charge {
            mechanism: Mechanism::DiscreteGaussian { scale: 20.25, moved: 2 },
            total_variation: 0.0,
            neighbours: Some(organza_release::Neighbours::Substitute),
            claimed_epsilon: 0.5,
            claimed_delta: 1e-6,
            description: String::new(),
        };
        let mut ledger = Ledger::open(&path).unwrap();
        ledger.charge(&account, &charge).unwrap();
        let charges = Ledger::open(&path).unwrap().charges(&account).unwrap();
        assert_eq!(charges[0].charge.mechanism, Mechanism::Pure { epsilon: 0.5 });
        assert_eq!(charges[1].charge, charge);
        // Two parties of one data set keep their own budgets and charges; of each the larger loss is counted.
        let accounts = ledger.accounts().unwrap();
        let told = accounts.iter().map(|one| (one.account.dataset(), one.budget.epsilon, one.charges));
        assert_eq!(told.collect::<Vec<_>>(), [("d", 2.0, 2), ("e of p", 1.0, 0), ("e of q", 3.0, 1)]);
        assert!((accounts[2].spent.epsilon.unwrap() - 1.4).abs() < 1e-9);
        let changed = connect(&path).unwrap().execute("UPDATE charges SET mechanism = '{}'", []);
        assert!(changed.unwrap_err().to_string().contains("stays spent"));
    }

    #[test]
    fn commits_are_durable_and_writers_patient() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.sqlite");
        create(&path, None).unwrap();
        let connection = connect(&path).unwrap();
        let text = |name| connection.pragma_query_value(None, name, |row| row.get::<_, String>(0)).unwrap();
        let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
        // EXTRA with a rollback journal syncs the folder too.
        assert_eq!((number("synchronous"), text("journal_mode").as_str()), (3, "delete"));
        assert_eq!((number("busy_timeout"), number("foreign_keys")), (30_000, 1));
    }
}
