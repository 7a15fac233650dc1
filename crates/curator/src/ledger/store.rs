//! The statements of the ledger: rows to values and back, nothing else.

use super::account::{Account, Budget};
use super::charge::{Charge, ChargeId, ChargeRecord, Publication};
use crate::fingerprint::FingerprintKey;
use organza_release::Neighbours;
use organza_release::loss::Mechanism;
use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};

/// RFC 3339 in UTC, to the second.
fn now() -> String {
    let now = jiff::Timestamp::now();
    jiff::Timestamp::from_second(now.as_second()).unwrap_or(now).to_string()
}

/// The budget of a data set and which tables are neighbours in it, if that is decided.
pub(super) fn budget(
    connection: &Connection,
    account: &Account,
) -> rusqlite::Result<Option<(Budget, Option<Neighbours>)>> {
    let query = "SELECT epsilon, delta, neighbours FROM datasets WHERE name = ?1";
    let budget = |row: &Row<'_>| Ok((Budget { epsilon: row.get(0)?, delta: row.get(1)? }, neighbours(row)?));
    connection.query_row(query, [account.dataset()], budget).optional()
}

pub(super) fn datasets(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    connection.prepare("SELECT name FROM datasets ORDER BY name")?.query_map([], |row| row.get(0))?.collect()
}

pub(super) fn write_budget(
    connection: &Connection,
    account: &Account,
    budget: Budget,
    neighbours: Option<Neighbours>,
) -> rusqlite::Result<()> {
    let statement =
        "INSERT INTO datasets (name, epsilon, delta, neighbours, set_at) VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT (name) DO UPDATE SET epsilon = excluded.epsilon, delta = excluded.delta,
        neighbours = excluded.neighbours, set_at = excluded.set_at";
    let relation = neighbours.map(word).transpose()?;
    let values = params![account.dataset(), budget.epsilon, budget.delta, relation, now()];
    connection.execute(statement, values).map(drop)
}

/// Another data set in which some of these records' columns have been charged.
pub(super) fn same_content(connection: &Connection, account: &Account) -> rusqlite::Result<Option<String>> {
    let mut query =
        connection.prepare("SELECT dataset FROM contents WHERE content = ?1 AND dataset <> ?2 LIMIT 1")?;
    for column in &account.content().columns {
        let found = query.query_row(params![column.to_le_bytes(), account.dataset()], |row| row.get(0));
        if let Some(dataset) = found.optional()? {
            return Ok(Some(dataset));
        }
    }
    Ok(None)
}

pub(super) fn write_content(connection: &Connection, account: &Account) -> rusqlite::Result<()> {
    let statement = "INSERT OR IGNORE INTO contents (dataset, content) VALUES (?1, ?2)";
    account.content().columns.iter().try_for_each(|column| {
        connection.execute(statement, params![account.dataset(), column.to_le_bytes()]).map(drop)
    })
}

/// The key of this ledger's fingerprints.
pub(super) fn key(connection: &Connection) -> rusqlite::Result<FingerprintKey> {
    connection.query_row("SELECT key FROM ledger", [], |row| Ok(FingerprintKey::from_bytes(row.get(0)?)))
}

/// A checksum of everything that a ledger says: a flipped byte that changes any of it is noticed.
pub(super) fn checksum(connection: &Connection) -> rusqlite::Result<[u8; 16]> {
    let key = key(connection)?;
    let mut total: u128 = 0;
    for query in [
        "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name",
        "SELECT * FROM datasets ORDER BY name",
        "SELECT * FROM charges ORDER BY id",
        "SELECT * FROM contents ORDER BY dataset, content",
    ] {
        let mut statement = connection.prepare(query)?;
        let columns = statement.column_count();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let mut bytes = total.to_le_bytes().to_vec();
            for column in 0..columns {
                let value = row.get_ref(column)?;
                let content = match value {
                    ValueRef::Null => vec![],
                    ValueRef::Integer(number) => number.to_le_bytes().to_vec(),
                    ValueRef::Real(number) => number.to_bits().to_le_bytes().to_vec(),
                    ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_vec(),
                };
                bytes.push(value.data_type() as u8);
                bytes.extend((content.len() as u64).to_le_bytes());
                bytes.extend(content);
            }
            total = key.hash(&bytes);
        }
    }
    Ok(total.to_le_bytes())
}

/// Writes the checksum: the last statement of every transaction.
pub(super) fn seal(connection: &Connection) -> rusqlite::Result<()> {
    let checksum = checksum(connection)?;
    connection.execute("UPDATE ledger SET checksum = ?1", [checksum]).map(drop)
}

pub(super) fn is_sealed(connection: &Connection) -> rusqlite::Result<bool> {
    let written: Vec<u8> = connection.query_row("SELECT checksum FROM ledger", [], |row| row.get(0))?;
    Ok(written == checksum(connection)?)
}

pub(super) fn charges(connection: &Connection, dataset: &str) -> rusqlite::Result<Vec<ChargeRecord>> {
    let query = "SELECT * FROM charges WHERE dataset = ?1 ORDER BY id";
    connection.prepare(query)?.query_map([dataset], record)?.collect()
}

pub(super) fn insert_charge(
    connection: &Connection,
    account: &Account,
    charge: &Charge,
) -> rusqlite::Result<ChargeId> {
    let (kind, mechanism) = written(charge.mechanism)?;
    let statement = "INSERT INTO charges (dataset, party, unit, neighbours, kind, mechanism, total_variation,
            claimed_epsilon, claimed_delta, description, charged_at)
        VALUES (:dataset, :party, 'record', :neighbours, :kind, :mechanism, :total_variation,
            :claimed_epsilon, :claimed_delta, :description, :charged_at)";
    let values = named_params! {
        ":dataset": account.dataset(), ":party": account.party(), ":kind": kind, ":mechanism": mechanism,
        ":neighbours": charge.neighbours.map(word).transpose()?, ":total_variation": charge.total_variation,
        ":claimed_epsilon": charge.claimed_epsilon, ":claimed_delta": charge.claimed_delta,
        ":description": charge.description, ":charged_at": now(),
    };
    connection.execute(statement, values)?;
    Ok(ChargeId(connection.last_insert_rowid()))
}

/// The output of a charge: `None` if there is no such charge, `Some(None)` if it is not published.
pub(super) fn output(connection: &Connection, id: ChargeId) -> rusqlite::Result<Option<Option<String>>> {
    connection.query_row("SELECT output FROM charges WHERE id = ?1", [id.0], |row| row.get(0)).optional()
}

pub(super) fn write_output(connection: &Connection, id: ChargeId, output: &str) -> rusqlite::Result<()> {
    let statement = "UPDATE charges SET output = ?2, published_at = ?3 WHERE id = ?1";
    connection.execute(statement, params![id.0, output, now()]).map(drop)
}

fn failed(error: serde_json::Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(error.into())
}

/// The word of a relation, as in release files.
fn word(neighbours: Neighbours) -> rusqlite::Result<String> {
    let value = serde_json::to_value(neighbours).map_err(failed)?;
    Ok(value.as_str().unwrap_or_default().to_owned())
}

/// The relation of a row, if it has one.
fn neighbours(row: &Row<'_>) -> rusqlite::Result<Option<Neighbours>> {
    let word: Option<String> = row.get("neighbours")?;
    let read = |word: String| {
        let value = serde_json::Value::from(word);
        serde_json::from_value(value)
            .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, error.into()))
    };
    word.map(read).transpose()
}

/// The kind of a mechanism, for people, and the whole of it as JSON.
fn written(mechanism: Mechanism) -> rusqlite::Result<(String, String)> {
    let value = serde_json::to_value(mechanism).map_err(failed)?;
    let kind = value["kind"].as_str().unwrap_or_default().to_owned();
    Ok((kind, value.to_string()))
}

fn mechanism(row: &Row<'_>) -> rusqlite::Result<Mechanism> {
    let unreadable = |column: &str, reason: String| match row.as_ref().column_index(column) {
        Ok(index) => rusqlite::Error::FromSqlConversionFailure(index, Type::Text, reason.into()),
        Err(error) => error,
    };
    if let Some(json) = row.get::<_, Option<String>>("mechanism")? {
        return serde_json::from_str(&json).map_err(|error| unreadable("mechanism", error.to_string()));
    }
    let kind: String = row.get("kind")?;
    match kind.as_str() {
        "gaussian" => Ok(Mechanism::Gaussian { mu: row.get("mu")? }),
        "pure" => Ok(Mechanism::Pure { epsilon: row.get("epsilon")? }),
        "approximate" => {
            Ok(Mechanism::Approximate { epsilon: row.get("epsilon")?, delta: row.get("delta")? })
        }
        _ => Err(unreadable("kind", format!("a charge of the unknown kind '{kind}'"))),
    }
}

fn record(row: &Row<'_>) -> rusqlite::Result<ChargeRecord> {
    let charge = Charge {
        mechanism: mechanism(row)?,
        total_variation: row.get("total_variation")?,
        neighbours: neighbours(row)?,
        claimed_epsilon: row.get("claimed_epsilon")?,
        claimed_delta: row.get("claimed_delta")?,
        description: row.get("description")?,
    };
    let published = match row.get("output")? {
        Some(output) => Some(Publication { output, published_at: row.get("published_at")? }),
        None => None,
    };
    let (id, party, charged_at) = (ChargeId(row.get("id")?), row.get("party")?, row.get("charged_at")?);
    Ok(ChargeRecord { id, party, charge, charged_at, published })
}
