//! A journal in a file, which a later process resumes.

#[cfg(test)]
mod crash;
mod disk;
mod open;
mod records;
mod writer;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard};

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::Value;

use self::records::Forgotten;
pub use self::records::Records;
use self::writer::{Writer, Written};
use super::replay::Replay;
use super::shared::SharedReplay;
use super::{Journal, JournalError, Record, StepFuture, StepSpec};

/// A journal in a file, which a later process resumes.
///
/// The file is JSON Lines: a header, then each effect as one line, a [`Record`], in the order in which they ended. When a
/// run that ended in an error is resumed, a line lists the keys whose records above it no longer count. A
/// record is on the disk before its effect is seen to end; those that end together are brought there together. It holds
/// arguments and answers as they are, so on Unix a new file is its owner's alone.
///
/// What is recorded is kept in memory too: a journal is for a run or a session, not for a server's whole life. One
/// process at a time may have it open, by a lock that only others like it heed. Clones share it; dropping the last one
/// waits for what is being written, and frees the file.
///
/// If the file can no longer be written, every further effect fails with that error before it runs.
///
/// # Examples
///
/// ```
/// use llm_do::journal::{FileJournal, Journal, JournalError, StepKind, StepSpec};
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
/// assert_eq!(journal.step(step.clone(), Box::pin(async { Ok(json!("sent")) })).await?, "sent");
/// drop(journal);
///
/// // Perhaps after a crash, in another process:
/// let journal = FileJournal::open(&path)?;
/// assert!(journal.is_replaying());
/// assert_eq!(journal.step(step, Box::pin(async { unreachable!("no mail is sent twice") })).await?, "sent");
/// assert!(!journal.is_replaying());
/// # drop(journal);
/// # std::fs::remove_dir_all(folder).unwrap();
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct FileJournal(Arc<Open>);

struct Open {
    path: PathBuf,
    replay: SharedReplay,
    writer: Writer,
}

impl FileJournal {
    /// Opens the journal at `path` to resume it, or creates it.
    ///
    /// What a crash left half written at the end is cut off. This reads the whole file, so call it before the runtime
    /// starts, or off the async threads.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Locked`] if it is open elsewhere, [`JournalError::Refused`] if the file is no journal or of
    /// another version, [`JournalError::Corrupt`] if a line other than the last is no record, and [`JournalError::Io`]
    /// if it cannot be read, written or locked.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, JournalError> {
        let path = path.into();
        let (file, replay) = open::open(&path)?;
        let writer = Writer::spawn(file).map_err(|source| JournalError::Io { path: path.clone(), source })?;
        Ok(Self(Arc::new(Open { path, replay: SharedReplay::new(replay), writer })))
    }

    /// Reads the records of the journal at `path`, one line at a time, without locking or changing it.
    ///
    /// What is half written at the end is left out. On Windows, a journal that is open elsewhere cannot be read.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Refused`] if the file is no journal or of another version, and [`JournalError::Io`] if
    /// it cannot be read. The iterator ends after its first error.
    pub fn read(path: impl Into<PathBuf>) -> Result<Records, JournalError> {
        open::read(path.into())
    }

    /// Returns how many effects are recorded so far: after [`open`](Self::open), how many a run resumes from.
    #[must_use]
    pub fn recorded(&self) -> usize {
        self.0.replay().records().count()
    }

    /// Returns the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.path
    }
}

impl Open {
    fn replay(&self) -> MutexGuard<'_, Replay> {
        self.replay.lock()
    }

    fn io(&self, source: io::Error) -> JournalError {
        JournalError::Io { path: self.path.clone(), source }
    }

    /// Finds the recorded value of a step, as long as the file can be written.
    async fn take(&self, step: &StepSpec) -> Result<Option<Value>, JournalError> {
        let recorded = self.replay.take(step).await?;
        // After the wait for others, so that nothing runs that could not be recorded.
        self.writer.check().map_err(|error| self.io(error))?;
        Ok(recorded)
    }

    /// Hands the writer a line that what is recorded under these keys is forgotten.
    fn forget(&self, keys: Vec<Arc<str>>) -> Result<Written, JournalError> {
        let forgotten = Forgotten { forget: keys, time: Timestamp::now() };
        let mut line = serde_json::to_vec(&forgotten).map_err(|error| self.io(error.into()))?;
        line.push(b'\n');
        let mut replay = self.replay();
        replay.forget(&forgotten.forget);
        Ok(self.writer.write(line))
    }

    /// Hands a record to the writer. Returns its value, or that recorded under its key meanwhile, to be seen once written.
    fn record(&self, record: Record) -> Result<(Value, Written), JournalError> {
        let mut line = serde_json::to_vec(&record).map_err(|error| self.io(error.into()))?;
        line.push(b'\n');
        // In one go, so that the lines are in the order of the records, and no key has two.
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
    async fn step(&self, step: StepSpec, local: StepFuture) -> Result<Value, JournalError> {
        if let Some(value) = self.0.take(&step).await? {
            return Ok(value);
        }
        let (value, written) = self.0.record(Record::new(step, local.await?)?)?;
        written.wait().await.map_err(|error| self.0.io(error))?;
        Ok(value)
    }

    fn is_replaying(&self) -> bool {
        self.0.replay().is_replaying()
    }

    fn is_recorded(&self, key: &str) -> bool {
        self.0.replay().get(key).is_some()
    }

    fn recorded(&self, key: &str) -> Option<Value> {
        self.0.replay().get(key).map(|record| record.value.clone())
    }

    async fn forget(&self, keys: Vec<Arc<str>>) -> Result<(), JournalError> {
        self.0.forget(keys)?.wait().await.map_err(|error| self.0.io(error))
    }

    fn unused(&self, parent: &str) -> Option<JournalError> {
        self.0.replay().unused(parent)
    }
}

impl fmt::Debug for FileJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileJournal").field("path", &self.0.path).finish_non_exhaustive()
    }
}
