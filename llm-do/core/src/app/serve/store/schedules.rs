//! When schedules last started a run.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use rusqlite::{OptionalExtension, Transaction, params};

use super::{Millis, Store, StoreError};
use crate::base::mutex::IgnorePoison;

/// The names and rules of the schedules that this process has begun with.
#[derive(Clone, Debug, Default)]
pub(super) struct BegunSchedules(Arc<Mutex<HashSet<(String, String)>>>);

/// Adds a schedule. One that is known counts from now if a process has begun with another rule of it meanwhile: its revision is
/// then not the highest.
const BEGIN: &str = "
    INSERT INTO schedules (name, rule, last, revision)
    SELECT ?1, ?2, ?3, coalesce(max(revision), 0) + 1 FROM schedules WHERE name = ?1
    ON CONFLICT (name, rule) DO UPDATE SET last = max(last, excluded.last), revision = excluded.revision
    WHERE revision < excluded.revision - 1";

impl Store {
    /// Returns when a schedule last started a run; a new one, and one whose rule has changed, counts from `now`.
    ///
    /// Whether the rule has changed is decided once in each process, or else two processes with different rules, such as while a
    /// new version is deployed, would let the times of each other pass.
    pub(in crate::app::serve) async fn last_start(
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

    /// Notes that a schedule started the run of a time.
    pub(in crate::app::serve) async fn started(
        &self,
        schedule: &str,
        rule: String,
        time: Timestamp,
    ) -> Result<(), StoreError> {
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
