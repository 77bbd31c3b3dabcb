//! Reads the log of a run from the engine, for those who watch it.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::client::{EngineClient, EngineError};
use super::entry::{Entry, Outcome};
use crate::observe::journal::{EngineJournal, Record, StepKind};

/// A part of the engine's journal of an invocation.
#[derive(Debug, Deserialize)]
struct JournalEntry {
    entry_json: Option<String>,
}

/// The log of a run so far.
#[derive(Debug)]
pub(in crate::app::serve) struct StoredLog(Vec<Entry>);

impl EngineClient {
    /// Reads the log of a run.
    pub(in crate::app::serve) async fn log(&self, invocation: &str) -> Result<StoredLog, EngineError> {
        let sql = format!(
            "SELECT entry_json FROM sys_journal WHERE id = {} AND entry_type LIKE 'Notification%' ORDER BY index",
            super::client::quoted(invocation)
        );
        let entries: Vec<JournalEntry> = self.query(&sql).await?;
        let batches = entries.iter().filter_map(|entry| batch(entry.entry_json.as_deref()?));
        Ok(StoredLog(batches.flatten().collect()))
    }
}

/// Returns the entries that the engine keeps as the value of one command; `None` for the values of other commands.
fn batch(json: &str) -> Option<Vec<Entry>> {
    let value: Value = serde_json::from_str(json).ok()?;
    let result = &value["Notification"]["Completion"]["Run"]["result"]["Success"];
    let bytes = match result {
        Value::String(text) => STANDARD.decode(text).ok()?,
        bytes => serde_json::from_value(bytes.clone()).ok()?,
    };
    serde_json::from_slice(&bytes).ok()
}

impl StoredLog {
    /// Returns how the run ended, if it has.
    pub(in crate::app::serve) fn outcome(&self) -> Option<&Outcome> {
        self.0.iter().rev().find_map(|entry| match entry {
            Entry::Outcome(outcome) => Some(outcome),
            _ => None,
        })
    }

    /// Loads the records into a journal, from which the run is replayed with all that happened in it: without the results of
    /// the run and of calls whose steps are recorded too.
    pub(in crate::app::serve) fn load(&self, journal: &EngineJournal) {
        let record = |step: &RawValue| serde_json::from_str::<Record>(step.get()).ok();
        let records = self.0.iter().filter_map(|entry| match entry {
            Entry::Step(step) => record(step),
            _ => None,
        });
        let parents: HashSet<_> = records.map(|record| record.parent).collect();
        let is_contained = |record: &Record| match record.kind {
            StepKind::Result => true,
            StepKind::Call => parents.contains(&record.key),
            _ => false,
        };
        for entry in &self.0 {
            match entry {
                Entry::Step(step) => {
                    if let Some(record) = record(step).filter(|record| !is_contained(record)) {
                        journal.load(record);
                    }
                }
                Entry::Forget(keys) => journal.load_forgotten(keys),
                _ => {}
            }
        }
    }
}
