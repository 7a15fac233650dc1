//! The statements of the ledger: rows to values and back, nothing else.

use super::account::{Account, Budget};
use super::charge::{Charge, ChargeId, ChargeRecord, Publication};
use organza_release::loss::Mechanism;
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};

/// RFC 3339 in UTC, to the second.
fn now() -> String {
    let now = jiff::Timestamp::now();
    jiff::Timestamp::from_second(now.as_second()).unwrap_or(now).to_string()
}

pub(super) fn budget(connection: &Connection, account: &Account) -> rusqlite::Result<Option<Budget>> {
    let query = "SELECT epsilon, delta FROM budgets WHERE dataset = ?1 AND party = ?2";
    let budget = |row: &Row<'_>| Ok(Budget { epsilon: row.get(0)?, delta: row.get(1)? });
    connection.query_row(query, params![account.dataset, account.party], budget).optional()
}

pub(super) fn budgets(connection: &Connection) -> rusqlite::Result<Vec<(Account, Budget)>> {
    let query = "SELECT dataset, party, epsilon, delta FROM budgets ORDER BY dataset, party";
    let pair = |row: &Row<'_>| {
        let account = Account { dataset: row.get(0)?, party: row.get(1)? };
        Ok((account, Budget { epsilon: row.get(2)?, delta: row.get(3)? }))
    };
    connection.prepare(query)?.query_map([], pair)?.collect()
}

pub(super) fn write_budget(
    connection: &Connection,
    account: &Account,
    budget: Budget,
) -> rusqlite::Result<()> {
    let statement = "INSERT INTO budgets (dataset, party, epsilon, delta, set_at) VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT (dataset, party) DO UPDATE
        SET epsilon = excluded.epsilon, delta = excluded.delta, set_at = excluded.set_at";
    let values = params![account.dataset, account.party, budget.epsilon, budget.delta, now()];
    connection.execute(statement, values).map(drop)
}

pub(super) fn charges(connection: &Connection, account: &Account) -> rusqlite::Result<Vec<ChargeRecord>> {
    let query = "SELECT * FROM charges WHERE dataset = ?1 AND party = ?2 ORDER BY id";
    connection.prepare(query)?.query_map(params![account.dataset, account.party], record)?.collect()
}

pub(super) fn insert_charge(
    connection: &Connection,
    account: &Account,
    charge: &Charge,
) -> rusqlite::Result<ChargeId> {
    let (kind, mechanism) = written(charge.mechanism)?;
    let statement = "INSERT INTO charges (dataset, party, kind, mechanism, total_variation,
            claimed_epsilon, claimed_delta, description, charged_at)
        VALUES (:dataset, :party, :kind, :mechanism, :total_variation,
            :claimed_epsilon, :claimed_delta, :description, :charged_at)";
    let values = named_params! {
        ":dataset": account.dataset, ":party": account.party, ":kind": kind, ":mechanism": mechanism,
        ":total_variation": charge.total_variation,
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

/// The kind of a mechanism, for people, and the whole of it as JSON.
fn written(mechanism: Mechanism) -> rusqlite::Result<(String, String)> {
    let failed = |error: serde_json::Error| rusqlite::Error::ToSqlConversionFailure(error.into());
    let value = serde_json::to_value(mechanism).map_err(failed)?;
    let kind = value["kind"].as_str().unwrap_or_default().to_owned();
    Ok((kind, value.to_string()))
}

fn mechanism(row: &Row<'_>) -> rusqlite::Result<Mechanism> {
    let unreadable = |column: &str, reason: String| match row.as_ref().column_index(column) {
        Ok(index) => rusqlite::Error::FromSqlConversionFailure(index, Type::Text, reason.into()),
        Err(error) => error,
    };
    // Ledgers of the first version do not have the column until they are written to.
    let json =
        row.as_ref().column_index("mechanism").is_ok().then(|| row.get::<_, Option<String>>("mechanism"));
    if let Some(json) = json.transpose()?.flatten() {
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
        claimed_epsilon: row.get("claimed_epsilon")?,
        claimed_delta: row.get("claimed_delta")?,
        description: row.get("description")?,
    };
    let published = match row.get("output")? {
        Some(output) => Some(Publication { output, published_at: row.get("published_at")? }),
        None => None,
    };
    Ok(ChargeRecord { id: ChargeId(row.get("id")?), charge, charged_at: row.get("charged_at")?, published })
}
