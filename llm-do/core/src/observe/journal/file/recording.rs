//! A journal in a file that only records: of a chat, or of a server.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use jiff::Timestamp;
use serde::Serialize;

use super::super::{Journal, JournalError, JournalOutcome, LocalOutcome, Record, StepFuture, StepSpec, key};
use super::open;
use super::records::ForgetLine;
use super::writer::Writer;

/// Adds runs to a journal file, each of which is new: nothing is replayed, and no record is kept in memory.
///
/// Clones share the file; dropping the last one waits for pending writes and releases its lock.
#[derive(Clone)]
#[doc(hidden)]
pub struct RecordingJournal(Arc<Recording>);

struct Recording {
    path: PathBuf,
    writer: Writer,
    /// How many runs of each root call earlier processes have added.
    earlier: HashMap<String, u32>,
    /// Whether the runs that begin continue a chat.
    is_chat: AtomicBool,
}

impl RecordingJournal {
    /// Opens the file at `path`, or creates it. Blocks.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`FileJournal::open`](super::FileJournal::open).
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, JournalError> {
        let path = path.into();
        let (file, earlier) = open::append(&path)?;
        let writer = Writer::spawn(file).map_err(|source| JournalError::Io { path: path.clone(), source })?;
        Ok(Self(Arc::new(Recording { path, writer, earlier, is_chat: AtomicBool::new(false) })))
    }

    /// Sets whether the next run depends on messages before it, and not on its input alone.
    pub fn set_continued(&self, is_continued: bool) {
        self.0.is_chat.store(is_continued, Ordering::Relaxed);
    }
}

impl Recording {
    /// Returns a key of this process as it is in the file: root calls are numbered in the order in which all processes made them.
    fn in_file(&self, key: &str) -> Arc<str> {
        let (root, rest) = key::split_root(key);
        let (root, number) = key::unnumbered(root);
        let in_chat = self.is_chat.load(Ordering::Relaxed).then(|| key::in_chat(root));
        let root = in_chat.as_deref().unwrap_or(root);
        match self.earlier.get(root).copied().unwrap_or_default() + number {
            0 => format!("{root}{rest}"),
            number => format!("{root}#{number}{rest}"),
        }
        .into()
    }

    async fn write(&self, line: &impl Serialize) -> Result<(), JournalError> {
        let io = |source| JournalError::Io { path: self.path.clone(), source };
        let mut text = serde_json::to_vec(line).map_err(|error| io(error.into()))?;
        text.push(b'\n');
        self.writer.write(text).wait().await.map_err(io)
    }
}

#[async_trait]
impl Journal for RecordingJournal {
    async fn step(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        self.0.writer.check().map_err(|source| JournalError::Io { path: self.0.path.clone(), source })?;
        let value = match local.await {
            LocalOutcome::Record(value) => value,
            LocalOutcome::Skip(unrecorded) => return Ok(JournalOutcome::Unrecorded(unrecorded)),
        };
        let mut record = Record::new(step, value)?;
        record.key = self.0.in_file(&record.key);
        if !record.parent.is_empty() {
            record.parent = self.0.in_file(&record.parent);
        }
        self.0.write(&record).await?;
        Ok(JournalOutcome::Recorded(record.value))
    }

    async fn forget(&self, keys: Vec<Arc<str>>) -> Result<(), JournalError> {
        let forget = keys.iter().map(|key| self.0.in_file(key)).collect();
        self.0.write(&ForgetLine { forget, time: Timestamp::now() }).await
    }

    fn is_replaying(&self) -> bool {
        false
    }
}

impl fmt::Debug for RecordingJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordingJournal").field("path", &self.0.path).finish_non_exhaustive()
    }
}
