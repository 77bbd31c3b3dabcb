//! When schedules last started a run.

use jiff::Timestamp;
use rusqlite::{OptionalExtension, params};

use super::{Millis, Store, StoreError};

impl Store {
    /// Returns when a schedule last started a run; a new one, and one whose rule has changed, counts from `now`.
    pub(in crate::app::serve) async fn last_start(
        &self,
        schedule: &str,
        rule: String,
        now: Timestamp,
    ) -> Result<Timestamp, StoreError> {
        let known = (schedule.to_owned(), rule.clone());
        let read = move |connection: &rusqlite::Connection| {
            let sql = "SELECT last FROM schedules WHERE name = ? AND rule = ?";
            connection.prepare_cached(sql)?.query_row(known, |row| row.get::<_, Millis>(0)).optional()
        };
        if let Some(Millis(last)) = self.database.read(read).await? {
            return Ok(last);
        }
        let schedule = schedule.to_owned();
        // Another process may have written it meanwhile.
        let last = self.database.write(move |tx| {
            let sql = "INSERT INTO schedules (name, rule, last) VALUES (?1, ?2, ?3)
                       ON CONFLICT (name, rule) DO UPDATE SET last = last RETURNING last";
            tx.query_row(sql, params![schedule, rule, Millis(now)], |row| row.get::<_, Millis>(0))
        });
        Ok(last.await?.0)
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
