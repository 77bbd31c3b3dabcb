//! When schedules last started a run.

use jiff::Timestamp;
use rusqlite::{OptionalExtension, params};

use super::{Millis, Store, StoreError};

impl Store {
    /// Returns when a schedule last started a run; a new schedule counts from `now`.
    pub(in crate::app::serve) async fn last_start(
        &self,
        schedule: &str,
        now: Timestamp,
    ) -> Result<Timestamp, StoreError> {
        let known = schedule.to_owned();
        let read = move |connection: &rusqlite::Connection| {
            let sql = "SELECT last FROM schedules WHERE name = ?";
            connection.prepare_cached(sql)?.query_row([known], |row| row.get::<_, Millis>(0)).optional()
        };
        if let Some(Millis(last)) = self.database.read(read).await? {
            return Ok(last);
        }
        let schedule = schedule.to_owned();
        let last = self.database.write(move |tx| {
            tx.execute(
                "INSERT INTO schedules (name, last) VALUES (?, ?) ON CONFLICT DO NOTHING",
                params![schedule, Millis(now)],
            )?;
            tx.query_row("SELECT last FROM schedules WHERE name = ?", [&schedule], |row| row.get::<_, Millis>(0))
        });
        Ok(last.await?.0)
    }

    /// Notes that a schedule started the run of a time.
    pub(in crate::app::serve) async fn started(&self, schedule: &str, time: Timestamp) -> Result<(), StoreError> {
        let schedule = schedule.to_owned();
        let sql = "UPDATE schedules SET last = max(last, ?2) WHERE name = ?1";
        self.database.write(move |tx| tx.execute(sql, params![schedule, Millis(time)])).await.map(drop)
    }
}
