//! What survives a process: a journal, cut at any record.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use llm_do::Value;
use llm_do::async_trait;
use llm_do::journal::{
    FileJournal, Journal, JournalError, JournalOutcome, MemoryJournal, Record, SqliteJournal, StepFuture, StepSpec,
};
use tempfile::TempDir;

use super::Outside;

/// Where the journal is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Store {
    Memory,
    File,
    Sqlite,
}

/// What survives a process.
pub(crate) struct Kept {
    store: Store,
    memory: MemoryJournal,
    folder: TempDir,
}

impl Kept {
    pub(crate) fn new(store: Store) -> Self {
        Self { store, memory: MemoryJournal::new(), folder: tempfile::tempdir().unwrap() }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("run.jsonl")
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("runs.db")
    }

    /// Opens the journal of the run for a process.
    pub(crate) async fn open(&self, outside: &Outside) -> (Arc<dyn Journal>, Marks) {
        let inner: Arc<dyn Journal> = match self.store {
            Store::Memory => Arc::new(self.memory.clone()),
            Store::File => Arc::new(FileJournal::open(self.file()).unwrap()),
            Store::Sqlite => Arc::new(SqliteJournal::open(self.database()).unwrap().run("1").await.unwrap()),
        };
        let marks = Marks { before: outside.made().len(), by_key: Arc::default() };
        (Arc::new(Marked { inner, outside: outside.clone(), marks: marks.clone() }), marks)
    }

    pub(crate) fn records(&self) -> Vec<Record> {
        match self.store {
            Store::Memory => self.memory.records(),
            Store::File => FileJournal::read(self.file()).unwrap().map(Result::unwrap).collect(),
            Store::Sqlite => {
                let tokio = tokio::runtime::Builder::new_current_thread().build().unwrap();
                let runs = SqliteJournal::open(self.database()).unwrap();
                tokio.block_on(runs.records("1")).unwrap()
            }
        }
    }

    /// Returns what a process leaves that died after this number of records.
    pub(crate) fn cut(&self, records: usize) -> Self {
        let mut cut = Self::new(self.store);
        match self.store {
            Store::Memory => cut.memory = MemoryJournal::from_records(self.memory.records().into_iter().take(records)),
            Store::File => {
                let text = fs::read_to_string(self.file()).unwrap();
                // The first line is the header.
                fs::write(cut.file(), text.split_inclusive('\n').take(1 + records).collect::<String>()).unwrap();
            }
            Store::Sqlite => self.cut_database(&cut, records),
        }
        cut
    }

    fn cut_database(&self, cut: &Self, records: usize) {
        let target = cut.database().to_str().unwrap().to_owned();
        rusqlite::Connection::open(self.database()).unwrap().execute("VACUUM INTO ?1", [target]).unwrap();
        let file = rusqlite::Connection::open(cut.database()).unwrap();
        let count =
            "SELECT coalesce(max(record), 0) FROM (SELECT record FROM journal_records ORDER BY record LIMIT ?1)";
        let last: i64 = file.query_row(count, [i64::try_from(records).unwrap()], |row| row.get(0)).unwrap();
        file.execute("DELETE FROM journal_records WHERE record > ?1", [last]).unwrap();
        file.execute("UPDATE journal_runs SET last = ?1, ended = NULL", [last]).unwrap();
        file.execute("DELETE FROM journal_promises", []).unwrap();
    }

    /// Returns it as the next process finds it.
    pub(crate) fn replayed(&self) -> Self {
        self.cut(usize::MAX >> 1)
    }
}

/// How many effects had been made when each record was about to be written.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    /// Those of earlier processes.
    before: usize,
    by_key: Arc<Mutex<HashMap<Arc<str>, usize>>>,
}

impl Marks {
    /// Returns the effects that a process has made that dies after this number of records: the fewest and the most possible.
    pub(crate) fn made_at(&self, records: &[Record], cut: usize, made: &[u32]) -> Vec<Vec<u32>> {
        let by_key = self.by_key.lock().unwrap();
        let count = |records: &[Record]| {
            records.iter().filter_map(|record| by_key.get(&record.key).copied()).max().unwrap_or(0).max(self.before)
        };
        let fewest = count(&records[..cut]);
        let most = if cut == records.len() { made.len() } else { count(&records[..=cut]) };
        let mut possible = vec![made[..fewest].to_vec()];
        if most > fewest {
            possible.push(made[..most].to_vec());
        }
        possible
    }
}

/// A journal that marks its records.
struct Marked {
    inner: Arc<dyn Journal>,
    outside: Outside,
    marks: Marks,
}

impl Marked {
    fn mark(&self, step: &StepSpec, local: StepFuture) -> StepFuture {
        let (key, outside, marks) = (Arc::clone(&step.key), self.outside.clone(), self.marks.clone());
        Box::pin(async move {
            let outcome = local.await;
            let made = outside.made().len();
            marks.by_key.lock().unwrap().insert(key, made);
            outcome
        })
    }
}

impl fmt::Debug for Marked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.inner, f)
    }
}

#[async_trait]
impl Journal for Marked {
    async fn step(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        let local = self.mark(&step, local);
        self.inner.step(step, local).await
    }

    async fn call(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        let local = self.mark(&step, local);
        self.inner.call(step, local).await
    }

    async fn decision(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        let local = self.mark(&step, local);
        self.inner.decision(step, local).await
    }

    fn is_replaying(&self) -> bool {
        self.inner.is_replaying()
    }

    fn is_recorded(&self, key: &str) -> bool {
        self.inner.is_recorded(key)
    }

    async fn recorded(&self, key: &str) -> Option<Value> {
        self.inner.recorded(key).await
    }

    fn has_recorded_steps(&self, key: &str) -> bool {
        self.inner.has_recorded_steps(key)
    }

    fn has_later_steps(&self, parent: &str) -> bool {
        self.inner.has_later_steps(parent)
    }

    async fn forget(&self, keys: Vec<Arc<str>>) -> Result<(), JournalError> {
        self.inner.forget(keys).await
    }

    fn unused(&self, parent: &str) -> Option<JournalError> {
        self.inner.unused(parent)
    }
}
