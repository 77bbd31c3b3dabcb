//! Reads the log of a run from the engine as it grows, to show its events.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use llm_do_core::observe::journal::FollowJournal;
use serde::Deserialize;
use serde_json::Value;

use super::client::{EngineClient, EngineError};
use super::entry::{Entry, Outcome};

/// A part of the engine's journal of an invocation.
#[derive(Debug, Deserialize)]
struct JournalEntry {
    index: u32,
    entry_json: Option<String>,
}

/// The new entries of a log.
#[derive(Debug)]
pub(crate) struct Appended(Vec<JournalEntry>);

/// The position up to which the log of a run was read.
#[derive(Debug, Default)]
pub(crate) struct LogReader {
    /// The index of the last entry in the engine's journal.
    last: Option<u32>,
    outcome: Option<Outcome>,
}

impl EngineClient {
    /// Reads what was appended to the log of a run.
    pub(crate) async fn log(&self, invocation: &str, read: &LogReader) -> Result<Appended, EngineError> {
        let sql = format!(
            "SELECT index, entry_json FROM sys_journal
             WHERE id = {} AND entry_type LIKE 'Notification%' AND index > {} ORDER BY index",
            super::client::quoted(invocation),
            read.last.map_or(-1, i64::from)
        );
        self.query(&sql).await.map(Appended)
    }
}

/// Returns the entries in the value of a command of the engine; `None` for values of other commands.
fn batch(json: &str) -> Option<Vec<Entry>> {
    let value: Value = serde_json::from_str(json).ok()?;
    serde_json::from_slice(&bytes(&value["Notification"]["Completion"]["Run"]["result"]["Success"])?).ok()
}

/// Returns bytes as the engine writes them in JSON.
pub(super) fn bytes(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::String(text) => STANDARD.decode(text).ok(),
        bytes => serde_json::from_value(bytes.clone()).ok(),
    }
}

impl Appended {
    /// Returns the entries, in their order.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> {
        self.0.iter().filter_map(|entry| batch(entry.entry_json.as_deref()?)).flatten()
    }
}

impl LogReader {
    /// Returns the outcome of the run, if it has ended.
    pub(crate) fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// Adds the records to the journal of a replay.
    pub(crate) fn read(&mut self, appended: &Appended, journal: &FollowJournal) {
        for JournalEntry { index, entry_json } in &appended.0 {
            self.last = Some(*index);
            for entry in entry_json.as_deref().and_then(batch).into_iter().flatten() {
                match entry {
                    Entry::Step(step) => {
                        if let Ok(record) = serde_json::from_str(step.get()) {
                            journal.add(record);
                        }
                    }
                    Entry::Forget(keys) => journal.add_forgotten(&keys),
                    Entry::Outcome(outcome) => self.outcome = Some(outcome),
                    _ => {}
                }
            }
        }
    }
}
