//! The runs of a service: their steps are in a file of many runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use llm_do::journal::SqliteJournal;
use llm_do::prelude::*;
use tempfile::TempDir;

use crate::ours::{QUESTION, sum};

/// A runtime, and a new file for its runs; clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Service {
    runtime: Runtime,
    runs: Arc<Runs>,
}

#[derive(Debug)]
struct Runs {
    journal: SqliteJournal,
    next: AtomicU32,
    _folder: TempDir,
}

impl Service {
    pub(crate) fn new(runtime: Runtime) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = SqliteJournal::open(folder.path().join("runs.db")).expect("a file");
        Self { runtime, runs: Arc::new(Runs { journal, next: AtomicU32::new(0), _folder: folder }) }
    }

    /// Makes one run.
    pub(crate) async fn run(&self) -> String {
        let id = self.runs.next.fetch_add(1, Ordering::Relaxed);
        let journal = self.runs.journal.run(&id.to_string()).await.expect("a new run");
        self.runtime.start(sum { input: QUESTION.to_owned() }).journal(journal).await.expect("an answer")
    }
}
