//! Evidence in the database of a service.

use std::collections::BTreeMap;
use std::path::Path;

use async_trait::async_trait;
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::state::add;
use super::{EvidenceStore, HybridState, Note, Subject, Turned};
use crate::base::error::BoxError;
use crate::observe::database::{Component, Database, DatabaseError, DatabaseFile};

static COMPONENT: Component = Component { name: "evidence", migrations: &[TABLES] };

const TABLES: &str = "
CREATE TABLE evidence (
    key TEXT NOT NULL PRIMARY KEY,
    worker TEXT NOT NULL,
    tool TEXT NOT NULL,
    state TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX evidence_by_pair ON evidence (worker, tool);
";

/// The evidence in a database. A note is one transaction, so processes that share the file lose none.
#[derive(Debug)]
pub struct SqliteEvidence(Database);

impl SqliteEvidence {
    /// Uses a database. Blocks.
    pub fn new(database: Database) -> Result<Self, DatabaseError> {
        database.migrate(&COMPONENT)?;
        Ok(Self(database))
    }
}

/// Reads the evidence in a database that another program may write; empty if it has none. Blocks.
pub(crate) fn read_file(path: &Path) -> Result<Vec<HybridState>, DatabaseError> {
    let Some(file) = DatabaseFile::find(path, &COMPONENT)? else { return Ok(Vec::new()) };
    file.read(all)
}

#[async_trait]
impl EvidenceStore for SqliteEvidence {
    async fn load(&self, key: &str) -> Result<Option<HybridState>, BoxError> {
        let key = key.to_owned();
        Ok(self.0.read(move |connection| state_of(connection, &key)).await?)
    }

    async fn note(&self, subject: &Subject, note: Note) -> Result<Option<Turned>, BoxError> {
        let subject = subject.clone();
        Ok(self.0.write(move |transaction| noted(transaction, &subject, note)).await?)
    }

    async fn all(&self) -> Result<Vec<HybridState>, BoxError> {
        Ok(self.0.read(all).await?)
    }
}

fn state_of(connection: &Connection, key: &str) -> rusqlite::Result<Option<HybridState>> {
    let mut statement = connection.prepare_cached("SELECT state FROM evidence WHERE key = ?")?;
    let text: Option<String> = statement.query_row([key], |row| row.get(0)).optional()?;
    text.map(|text| parse(&text)).transpose()
}

/// Adds a note to the states of a pair.
fn noted(connection: &Connection, subject: &Subject, note: Note) -> rusqlite::Result<Option<Turned>> {
    let mut states = of_pair(connection, subject)?;
    let known: Vec<_> = states.keys().cloned().collect();
    let turned = add(&mut states, subject, note);
    for dropped in known.iter().filter(|key| !states.contains_key(*key)) {
        connection.execute("DELETE FROM evidence WHERE key = ?", [dropped])?;
    }
    if let Some(state) = states.get(&subject.key) {
        let text =
            serde_json::to_string(state).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        let sql = "INSERT INTO evidence (key, worker, tool, state) VALUES (?1, ?2, ?3, ?4)
                   ON CONFLICT (key) DO UPDATE SET state = excluded.state";
        connection.prepare_cached(sql)?.execute(params![subject.key, subject.worker, subject.tool, text])?;
    }
    Ok(turned)
}

fn of_pair(connection: &Connection, subject: &Subject) -> rusqlite::Result<BTreeMap<String, HybridState>> {
    let sql = "SELECT key, state FROM evidence WHERE worker = ?1 AND tool = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let row = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, parse(&row.get::<_, String>(1)?)?));
    statement.query_map(params![subject.worker, subject.tool], row)?.collect()
}

fn all(connection: &Connection) -> rusqlite::Result<Vec<HybridState>> {
    let mut statement = connection.prepare_cached("SELECT state FROM evidence ORDER BY worker, tool, key")?;
    statement.query_map([], |row| parse(&row.get::<_, String>(0)?))?.collect()
}

fn parse(text: &str) -> rusqlite::Result<HybridState> {
    serde_json::from_str(text).map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, error.into()))
}
