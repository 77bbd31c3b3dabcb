//! A journal in a file.

#[cfg(test)]
mod crash;
mod disk;
mod open;
mod recording;
mod records;
mod writer;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard};

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::Value;

pub use self::recording::RecordingJournal;
use self::records::ForgetLine;
pub use self::records::Records;
use self::writer::{PendingWrite, Writer};
use super::replay::Replay;
use super::shared::{SharedReplay, read_replay};
use super::{Journal, JournalError, JournalOutcome, LocalOutcome, Record, Settlement, StepFuture, StepSpec};

/// A journal in a file, from which a later process resumes.
///
/// The file is in JSON Lines: a header, then one [`Record`] per line, in the order in which the effects ended. When a run
/// that ended in an error is resumed, a line lists the keys whose records above it are forgotten. A record is synced to
/// disk before the result of its effect is returned; concurrent records are synced together. The file contains arguments
/// and answers in plain text, so on Unix a new file is readable and writable only by its owner.
///
/// All records are also kept in memory: use one journal for a run or a session, not for the lifetime of a server. An
/// advisory lock ensures that only one process has the file open as a journal. Clones share the file; dropping the last
/// one waits for pending writes and releases the lock.
///
/// After a write error, every further unrecorded effect fails with that error before it runs.
///
/// # Examples
///
/// ```
/// use llm_do::journal::{FileJournal, Journal, JournalError, LocalOutcome, StepKind, StepSpec};
/// use llm_do::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), JournalError> {
/// # let folder = std::env::temp_dir().join(format!("llm-do-journal-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
/// # let path = folder.join("run.jsonl");
/// # let _ = std::fs::remove_file(&path);
/// let step = StepSpec::new("main", 0, StepKind::Tool, "send_mail", json!({ "to": "ada" }));
/// let journal = FileJournal::open(&path)?;
/// assert_eq!(journal.step(step.clone(), Box::pin(async { LocalOutcome::Record(json!("sent")) })).await?, "sent");
/// drop(journal);
///
/// // Perhaps after a crash, in another process:
/// let journal = FileJournal::open(&path)?;
/// assert!(journal.is_replaying());
/// assert_eq!(journal.step(step, Box::pin(async { unreachable!("the mail is already sent") })).await?, "sent");
/// assert!(!journal.is_replaying());
/// # drop(journal);
/// # std::fs::remove_dir_all(folder).unwrap();
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct FileJournal(Arc<OpenJournal>);

struct OpenJournal {
    path: PathBuf,
    replay: SharedReplay,
    writer: Writer,
}

impl FileJournal {
    /// Opens the journal at `path` to resume it, or creates it.
    ///
    /// An incomplete record at the end, as a crash leaves it, is truncated. This reads the whole file and blocks: call it
    /// before the runtime starts, or outside of async tasks.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Locked`] if the file is already open as a journal, [`JournalError::Refused`] if the file is
    /// not a journal or has an unknown version, [`JournalError::Corrupt`] if a line before the end is not a valid record, and
    /// [`JournalError::Io`] if the file cannot be read, written or locked.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, JournalError> {
        let path = path.into();
        let (file, replay) = open::open(&path)?;
        let writer = Writer::spawn(file).map_err(|source| JournalError::Io { path: path.clone(), source })?;
        Ok(Self(Arc::new(OpenJournal { path, replay: SharedReplay::new(replay), writer })))
    }

    /// Reads the records of the journal at `path`, one line at a time, without locking or changing it.
    ///
    /// An incomplete record at the end is left out. On Windows, a journal that is open in a run cannot be read.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Refused`] if the file is not a journal or has an unknown version, and [`JournalError::Io`] if
    /// it cannot be read. The iterator ends after its first error.
    pub fn read(path: impl Into<PathBuf>) -> Result<Records, JournalError> {
        open::read(path.into())
    }

    /// Settles the outcome of a call if it is unknown, by the key of its step; the run can then be resumed.
    ///
    /// An earlier answer of a person about it, such as that the run stops, no longer counts.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::InvalidValue`] if no call with this key began, or it is already settled, and
    /// [`JournalError::Io`] if the file cannot be written.
    pub async fn settle(&self, step: &str, settlement: &Settlement) -> Result<(), JournalError> {
        let records: Vec<_> = self.0.replay().records().cloned().collect();
        let (record, used_up) = settlement.record(&records, step)?;
        if !used_up.is_empty() {
            Journal::forget(self, used_up).await?;
        }
        let (_, written) = self.0.record(record)?;
        written.wait().await.map_err(|error| self.0.io(error))
    }

    /// Returns the number of recorded effects; after [`open`](Self::open), the number that a resumed run can replay.
    #[must_use]
    pub fn recorded(&self) -> usize {
        self.0.replay().records().count()
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.path
    }
}

impl OpenJournal {
    fn replay(&self) -> MutexGuard<'_, Replay> {
        self.replay.lock()
    }

    fn io(&self, source: io::Error) -> JournalError {
        JournalError::Io { path: self.path.clone(), source }
    }

    /// Returns the recorded value of a step, or an error if the file can no longer be written.
    async fn look_up(&self, step: &StepSpec) -> Result<Option<Value>, JournalError> {
        let recorded = self.replay.look_up(step).await?;
        // Checked after the wait for other calls, so that no effect runs that cannot be recorded.
        self.writer.check().map_err(|error| self.io(error))?;
        Ok(recorded)
    }

    /// Queues a line that forgets the records of these keys.
    fn forget(&self, keys: Vec<Arc<str>>) -> Result<PendingWrite, JournalError> {
        let forgotten = ForgetLine { forget: keys, time: Timestamp::now() };
        let mut line = serde_json::to_vec(&forgotten).map_err(|error| self.io(error.into()))?;
        line.push(b'\n');
        let mut replay = self.replay();
        replay.forget(&forgotten.forget);
        Ok(self.writer.write(line))
    }

    /// Queues a record. Returns its value, or the value recorded under its key in the meantime, to be used once written.
    fn record(&self, record: Record) -> Result<(Value, PendingWrite), JournalError> {
        let mut line = serde_json::to_vec(&record).map_err(|error| self.io(error.into()))?;
        line.push(b'\n');
        // Both happen under one lock, so that lines are in the order of the records, and each key has one line.
        let mut replay = self.replay();
        if let Some(earlier) = replay.get(&record.key) {
            return Ok((earlier.value.clone(), self.writer.write(Vec::new())));
        }
        let value = record.value.clone();
        replay.add(record);
        Ok((value, self.writer.write(line)))
    }
}

#[async_trait]
impl Journal for FileJournal {
    async fn step(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        if let Some(value) = self.0.look_up(&step).await? {
            return Ok(JournalOutcome::Replayed(value));
        }
        let value = match local.await {
            LocalOutcome::Record(value) => value,
            LocalOutcome::Skip(unrecorded) => return Ok(JournalOutcome::Unrecorded(unrecorded)),
        };
        let (value, written) = self.0.record(Record::new(step, value)?)?;
        written.wait().await.map_err(|error| self.0.io(error))?;
        Ok(JournalOutcome::Recorded(value))
    }

    async fn recorded(&self, key: &str) -> Option<Value> {
        self.0.replay().get(key).map(|record| record.value.clone())
    }

    async fn forget(&self, keys: Vec<Arc<str>>) -> Result<(), JournalError> {
        self.0.forget(keys)?.wait().await.map_err(|error| self.0.io(error))
    }

    read_replay!(self => self.0.replay());
}

impl fmt::Debug for FileJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileJournal").field("path", &self.0.path).finish_non_exhaustive()
    }
}
