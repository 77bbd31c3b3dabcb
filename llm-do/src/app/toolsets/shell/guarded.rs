//! A command that may change the project: no other runs there meanwhile, and the repositories are the same afterwards.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, Weak};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use super::fault::Fault;
use super::repositories::{MAX_ENTRIES, Repositories, TooLarge};
use crate::base::mutex::IgnorePoison;

/// One lock for each working directory: a command that ran beside another could swap a folder while it is mounted.
static LOCKS: LazyLock<Mutex<HashMap<PathBuf, Weak<AsyncMutex<()>>>>> = LazyLock::new(Mutex::default);

/// The repositories in a folder before a command runs, and the right to run one there.
#[derive(Debug)]
pub(super) struct Guarded {
    root: PathBuf,
    before: Repositories,
    _lock: OwnedMutexGuard<()>,
}

impl Guarded {
    /// Waits for the command that runs in the folder, and reads the repositories.
    pub(super) async fn new(root: &Path) -> Result<Self, Fault> {
        let lock = lock(root).lock_owned().await;
        let before = find(root).await.map_err(|TooLarge| Fault::TooLarge(MAX_ENTRIES))?;
        Ok(Self { root: root.to_owned(), before, _lock: lock })
    }

    /// Returns folders that the command must not change.
    pub(super) fn folders(&self) -> &[PathBuf] {
        self.before.folders()
    }

    /// Returns the result of the command; fails with it if a repository has changed.
    pub(super) async fn check(self, result: String) -> Result<String, Fault> {
        let Ok(after) = find(&self.root).await else { return Err(Fault::Unchecked { result }) };
        match self.before.changes(&after, &self.root) {
            None => Ok(result),
            Some(changes) => Err(Fault::Repository { changes, result }),
        }
    }
}

async fn find(root: &Path) -> Result<Repositories, TooLarge> {
    let root = root.to_owned();
    let found = tokio::task::spawn_blocking(move || Repositories::find(&root));
    found.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

fn lock(root: &Path) -> Arc<AsyncMutex<()>> {
    let mut locks = LOCKS.lock().ignore_poison();
    locks.retain(|_, lock| lock.strong_count() > 0);
    if let Some(lock) = locks.get(root).and_then(Weak::upgrade) {
        return lock;
    }
    let lock = Arc::new(AsyncMutex::new(()));
    locks.insert(root.to_owned(), Arc::downgrade(&lock));
    lock
}
