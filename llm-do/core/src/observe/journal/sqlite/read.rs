//! Reads the records of a run.

use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::types::Type;
use rusqlite::{Connection, Row};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::super::replay::Replay;
use super::super::{Record, StepKind};
use super::head::{Names, RecordHead};
use super::lease::Fence;

/// The numbers of the records of a run, the last one first.
///
/// `CROSS JOIN` makes SQLite read the list before its records. With a condition on the records, SQLite may otherwise
/// choose to read the records of all runs.
macro_rules! records_of {
    ($last:literal) => {
        concat!(
            "WITH RECURSIVE list (record) AS (",
            $last,
            " UNION ALL SELECT previous FROM list CROSS JOIN journal_records USING (record) WHERE previous > 0) "
        )
    };
}
pub(super) use records_of;

const LOAD: &str = concat!(
    records_of!("SELECT last FROM journal_runs WHERE run = ?1 AND last > 0"),
    "SELECT record, key, parent, name, kind, place, overlapped, begun, callers, digest, \
    CASE kind WHEN 'forget' THEN value END, forgotten FROM list CROSS JOIN journal_records USING (record) ORDER BY record"
);

/// Loads the in-memory part of the records of a run, and the number of the last record.
pub(super) fn load(connection: &Connection, run: i64, is_reduced: bool) -> rusqlite::Result<(Replay<RecordHead>, i64)> {
    let (mut replay, mut names, mut last) = (Replay::default(), Names::default(), 0);
    let mut statement = connection.prepare_cached(LOAD)?;
    let mut rows = statement.query([run])?;
    while let Some(row) = rows.next()? {
        match row.get_ref(10)?.as_str_or_null()? {
            Some(forgotten) => replay.forget(&parse::<Vec<Arc<str>>>(forgotten, 10)?),
            // Earlier versions kept forgotten results here, but not the rows that forget them.
            None if is_reduced && row.get(11)? => {}
            None => drop(replay.load(head(row, &mut names)?)),
        }
        last = row.get(0)?;
    }
    Ok((replay, last))
}

fn head(row: &Row<'_>, names: &mut Names) -> rusqlite::Result<RecordHead> {
    let text = |index| row.get_ref(index)?.as_str().map_err(rusqlite::Error::from);
    Ok(RecordHead {
        record: row.get(0)?,
        key: text(1)?.into(),
        parent: names.shared(text(2)?),
        name: names.shared(text(3)?),
        kind: kind(text(4)?, 4)?,
        place: row.get(5)?,
        overlapped: row.get(6)?,
        begun: row.get(7)?,
        callers: row.get_ref(8)?.as_str_or_null()?.map_or(Ok(Vec::new()), |callers| parse(callers, 8))?,
        digest: row.get::<_, i64>(9)?.cast_unsigned(),
    })
}

/// Reads the outcome of a record, as JSON; `None` if another process has the run.
///
/// If the run was deleted, another run may have a record with this number.
pub(super) fn value(connection: &Connection, fence: Fence, record: i64) -> rusqlite::Result<Option<String>> {
    if !fence.holds(connection)? {
        return Ok(None);
    }
    let sql = "SELECT value FROM journal_records WHERE record = ?1";
    connection.prepare_cached(sql)?.query_row([record], |row| row.get(0)).map(Some)
}

const RECORDS: &str = concat!(
    records_of!("SELECT last FROM journal_runs WHERE id = ?1 AND last > 0"),
    "SELECT key, parent, name, kind, place, overlapped, begun, callers, time, input, value \
    FROM list CROSS JOIN journal_records USING (record) WHERE forgotten = 0 ORDER BY record"
);

/// Reads the records of a run that are not forgotten.
pub(crate) fn records(connection: &Connection, id: &str) -> rusqlite::Result<Vec<Record>> {
    let mut statement = connection.prepare_cached(RECORDS)?;
    statement.query_map([id], record)?.collect()
}

const VALUES: &str = concat!(
    records_of!("SELECT last FROM journal_runs WHERE id = ?1 AND last > 0"),
    "SELECT value FROM list CROSS JOIN journal_records USING (record) WHERE forgotten = 0 AND kind = ?2 ORDER BY record"
);

/// Reads the outcomes of the records of one kind that are not forgotten; it reads no other content.
pub(crate) fn values(connection: &Connection, id: &str, of: StepKind) -> rusqlite::Result<Vec<Value>> {
    let mut statement = connection.prepare_cached(VALUES)?;
    statement.query_map((id, of.as_str()), |row| parse(row.get_ref(0)?.as_str()?, 0))?.collect()
}

pub(super) fn record(row: &Row<'_>) -> rusqlite::Result<Record> {
    let text = |index| row.get_ref(index)?.as_str().map_err(rusqlite::Error::from);
    Ok(Record {
        key: text(0)?.into(),
        parent: text(1)?.into(),
        name: text(2)?.into(),
        kind: kind(text(3)?, 3)?,
        place: row.get(4)?,
        overlapped: row.get(5)?,
        begun: row.get(6)?,
        callers: row.get_ref(7)?.as_str_or_null()?.map_or(Ok(Vec::new()), |callers| parse(callers, 7))?,
        time: Timestamp::from_nanosecond(row.get::<_, i64>(8)?.into()).map_err(|error| invalid(8, error))?,
        input: Arc::new(parse(text(9)?, 9)?),
        value: parse(text(10)?, 10)?,
    })
}

pub(super) fn kind(name: &str, column: usize) -> rusqlite::Result<StepKind> {
    serde_json::from_value(Value::from(name)).map_err(|error| invalid(column, error))
}

pub(super) fn parse<T: DeserializeOwned>(text: &str, column: usize) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|error| invalid(column, error))
}

fn invalid(column: usize, error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}
