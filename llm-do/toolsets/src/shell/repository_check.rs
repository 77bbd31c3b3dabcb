//! A command that may change the project: it runs alone in the folder, and must not change repositories.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};

use llm_do_core::base::error;
use llm_do_core::base::mutex::IgnorePoison;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use super::fault::Fault;
use super::folder_lock::{FolderLock, Wait};
use super::repositories::{Repositories, Unsearched};

/// The repositories before a command without a finished check: it runs, was cancelled, or left a folder that cannot be
/// searched.
type Unchecked = Arc<AsyncMutex<Option<Repositories>>>;

/// One lock for each working directory, in the order of the calls; the locks of folders are between processes.
static ROOTS: LazyLock<Mutex<HashMap<PathBuf, Unchecked>>> = LazyLock::new(Mutex::default);

/// The repositories in a folder before a command runs, and the lock for running it.
#[derive(Debug)]
pub(super) struct RepositoryCheck {
    root: PathBuf,
    before: OwnedMutexGuard<Option<Repositories>>,
    _lock: FolderLock,
}

impl RepositoryCheck {
    /// Waits for the running command of the folder, and reads the repositories. Fails if an earlier command without a
    /// finished check has changed a repository.
    pub(super) async fn new(root: &Path, wait: Wait<'_>) -> Result<Self, Fault> {
        let mut before = wait.until(root, unchecked(root).lock_owned()).await?;
        let lock = FolderLock::alone(root, wait).await?;
        let now = find(root).await.map_err(Fault::Unsearched)?;
        if let Some(changes) = before.take().and_then(|earlier| earlier.changes(&now, root)) {
            return Err(Fault::Earlier(changes));
        }
        *before = Some(now);
        Ok(Self { root: root.to_owned(), before, _lock: lock })
    }

    /// Returns the folders that the command must not change.
    pub(super) fn folders(&self) -> &[PathBuf] {
        self.before.as_ref().map_or(&[], Repositories::folders)
    }

    /// Returns the result of the command; fails, with the result in the error, if a repository has changed.
    pub(super) async fn finish(mut self, result: Result<String, Fault>) -> Result<String, Fault> {
        let text = |result: Result<String, Fault>| result.unwrap_or_else(|fault| error::chain(&fault));
        let after = match find(&self.root).await {
            Ok(after) => after,
            Err(why) => return Err(Fault::Unchecked { why, result: text(result) }),
        };
        match self.before.take().and_then(|before| before.changes(&after, &self.root)) {
            None => result,
            Some(changes) => Err(Fault::Repository { changes, result: text(result) }),
        }
    }
}

async fn find(root: &Path) -> Result<Repositories, Unsearched> {
    let root = root.to_owned();
    let found = tokio::task::spawn_blocking(move || Repositories::find(&root));
    found.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

fn unchecked(root: &Path) -> Unchecked {
    let mut roots = ROOTS.lock().ignore_poison();
    roots.retain(|_, unchecked| {
        Arc::strong_count(unchecked) > 1 || unchecked.try_lock().is_ok_and(|before| before.is_some())
    });
    Arc::clone(roots.entry(root.to_owned()).or_default())
}
