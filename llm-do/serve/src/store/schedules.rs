//! When schedules last started a run.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use llm_do_core::base::mutex::IgnorePoison;
use rusqlite::{OptionalExtension, Transaction, params};

use super::{Millis, Store, StoreError};

/// The names and rules of the schedules that this process has begun.
#[derive(Clone, Debug, Default)]
pub(super) struct BegunSchedules(Arc<Mutex<HashSet<(String, String)>>>);

/// Adds a schedule. A known one counts from now if another process has begun with a different rule of it in the
/// meantime: its revision is then not the highest.
/// then not the highest.
const BEGIN: &str = "
    INSERT INTO schedules (name, rule, last, revision)
    SELECT ?1, ?2, ?3, coalesce(max(revision), 0) + 1 FROM schedules WHERE name = ?1
    ON CONFLICT (name, rule) DO UPDATE SET last = max(last, excluded.last), revision = excluded.revision
    WHERE revision < excluded.revision - 1";

impl Store {
    /// Returns when a schedule last started a run; for a new schedule or rule, returns `now`.
    ///
    /// Each process checks once whether the rule has changed. Otherwise two processes with different rules, for example
    /// while a new version is deployed, would make each other miss times.
    pub(crate) async fn last_start(
        &self,
        schedule: &str,
        rule: String,
        now: Timestamp,
    ) -> Result<Timestamp, StoreError> {
        let schedule = (schedule.to_owned(), rule);
        let is_begun = self.schedules.0.lock().ignore_poison().contains(&schedule);
        if is_begun {
            let (name, rule) = schedule.clone();
            let known = self.database.read(move |connection| last(connection, &name, &rule)).await?;
            if let Some(last) = known {
                return Ok(last);
            }
        }
        let (name, rule) = schedule.clone();
        let begin = move |tx: &Transaction<'_>| {
            tx.execute(BEGIN, params![name, rule, Millis(now)])?;
            last(tx, &name, &rule)
        };
        let last = self.database.write(begin).await?.unwrap_or(now);
        self.schedules.0.lock().ignore_poison().insert(schedule);
        Ok(last)
    }

    /// Records that a schedule started the run of a time.
    pub(crate) async fn started(&self, schedule: &str, rule: String, time: Timestamp) -> Result<(), StoreError> {
        let schedule = schedule.to_owned();
        let sql = "UPDATE schedules SET last = max(last, ?2) WHERE name = ?1 AND rule = ?3";
        self.database.write(move |tx| tx.execute(sql, params![schedule, Millis(time), rule])).await.map(drop)
    }
}

fn last(connection: &rusqlite::Connection, name: &str, rule: &str) -> rusqlite::Result<Option<Timestamp>> {
    let sql = "SELECT last FROM schedules WHERE name = ? AND rule = ?";
    let last = connection.prepare_cached(sql)?.query_row([name, rule], |row| row.get::<_, Millis>(0)).optional()?;
    Ok(last.map(|Millis(last)| last))
}
