//! The events of runs, numbered in each run.

use rusqlite::params;

use super::changes::Changed;
use super::page::Page;
use super::usage::raised;
use super::{Store, StoreError};
use crate::base::usage::RunUsage;
use crate::observe::event::{EffectLog, Event};
use crate::observe::journal::Fence;

/// The maximum number of events that are read together.
const EVENT_BATCH: u32 = 500;
/// The maximum size of events that are read together, in bytes, which each open stream holds while its client reads.
pub(super) const EVENT_BATCH_BYTES: u64 = 256 << 10;

/// The events of calls that start and end. A text that contains these words has escaped quotes.
const CALLS: &str = r#"SELECT event FROM events WHERE run = ?
    AND (instr(event, '"kind":"call_started"') OR instr(event, '"kind":"call_finished"')) ORDER BY number"#;

/// Returns the calls of a run that may have changed something, those of earlier attempts included.
pub(super) fn effects(connection: &rusqlite::Connection, run: &str) -> rusqlite::Result<EffectLog> {
    let mut statement = connection.prepare_cached(CALLS)?;
    let mut rows = statement.query([run])?;
    let mut log = EffectLog::default();
    // Read one by one, since the events of a long run may not fit into memory.
    while let Some(row) = rows.next()? {
        let event: String = row.get(0)?;
        if let Ok(event) = serde_json::from_str::<Event>(&event) {
            log.push(&event);
        }
    }
    Ok(log)
}

/// An event of a run, as JSON.
#[derive(Clone, Debug)]
pub(in crate::app::serve) struct StoredEvent {
    /// From 1, without gaps; a resumed run continues.
    pub(in crate::app::serve) number: u64,
    pub(in crate::app::serve) event: String,
}

impl Store {
    /// Appends events, and the usage that the last of them reported, unless another process has claimed the run.
    pub(in crate::app::serve) async fn add_events(
        &self,
        run: &str,
        fence: Fence,
        events: Vec<String>,
        usage: Option<RunUsage>,
    ) -> Result<(), StoreError> {
        let run = run.to_owned();
        let added = self.change(Changed::Run(run.clone()), move |tx| {
            if !fence.holds(tx)? {
                return Ok(());
            }
            let last = "SELECT coalesce(max(number), 0) FROM events WHERE run = ?";
            let mut number: u64 = tx.prepare_cached(last)?.query_row([&run], |row| row.get(0))?;
            let mut insert = tx.prepare_cached("INSERT INTO events (run, number, event) VALUES (?, ?, ?)")?;
            for event in &events {
                number += 1;
                insert.execute(params![run, number, event])?;
            }
            if let Some(usage) = &usage {
                let (usage, _) = raised(tx, &run, usage)?;
                tx.execute("UPDATE runs SET usage = ?2 WHERE id = ?1 AND finished IS NULL", params![run, usage])?;
            }
            Ok(())
        });
        added.await
    }

    /// Returns the number of the last event of a run; 0 without one.
    pub(in crate::app::serve) async fn last_event(&self, run: &str) -> Result<u64, StoreError> {
        let run = run.to_owned();
        let sql = "SELECT coalesce(max(number), 0) FROM events WHERE run = ?1";
        self.database.read(move |connection| connection.query_row(sql, [run], |row| row.get(0))).await
    }

    /// Returns the calls of a run that may have changed something.
    pub(in crate::app::serve) async fn effects(&self, run: &str) -> Result<EffectLog, StoreError> {
        let run = run.to_owned();
        self.database.read(move |connection| effects(connection, &run)).await
    }

    /// Returns the next events of a run after a number: at least one, if there is one.
    pub(in crate::app::serve) async fn events(&self, run: &str, after: u64) -> Result<Vec<StoredEvent>, StoreError> {
        let run = run.to_owned();
        let sql = "SELECT number, event, octet_length(event) AS size FROM events WHERE run = ?1 AND number > ?2
                   ORDER BY number LIMIT ?3";
        self.database
            .read(move |connection| {
                let mut statement = connection.prepare_cached(sql)?;
                let read = |row: &rusqlite::Row<'_>| Ok(StoredEvent { number: row.get(0)?, event: row.get(1)? });
                let rows = statement.query(params![run, after, EVENT_BATCH])?;
                Ok(Page::read_bytes(rows, EVENT_BATCH, EVENT_BATCH_BYTES, read)?.rows)
            })
            .await
    }
}
