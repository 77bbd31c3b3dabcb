//! Locks of folders between processes. Without them, a concurrent command could replace a folder by a link to a folder
//! outside, which the sandbox of another command would then open.

mod lock_file;

use std::fs::File;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::{Duration, Instant};

use futures_timer::Delay;
use llm_do_core::base::delay::within;

use self::lock_file::LockFile;
use super::fault::Fault;

/// The interval between attempts to lock a folder that another command has locked.
const AGAIN: Duration = Duration::from_millis(20);
/// The time after which a call reports that it waits for another command.
const REPORTED_AFTER: Duration = Duration::from_millis(500);

/// The maximum time for which a call waits for other commands.
#[derive(Clone, Copy)]
pub(super) struct Wait<'a> {
    began: Instant,
    limit: Duration,
    /// Called with a locked folder, if the call waits for it.
    report: &'a (dyn Fn(&Path) + Sync),
}

impl<'a> Wait<'a> {
    /// Starts the wait.
    pub(super) fn new(limit: Duration, report: &'a (dyn Fn(&Path) + Sync)) -> Self {
        Self { began: Instant::now(), limit, report }
    }

    fn left(self) -> Duration {
        self.limit.saturating_sub(self.began.elapsed())
    }

    /// Waits until a folder is locked.
    pub(super) async fn until<T>(self, folder: &Path, future: impl Future<Output = T>) -> Result<T, Fault> {
        let mut future = pin!(future);
        if let Some(value) = within(self.left().min(REPORTED_AFTER), &mut future).await {
            return Ok(value);
        }
        if !self.left().is_zero() {
            (self.report)(folder);
        }
        let value = within(self.left(), future).await;
        value.ok_or_else(|| Fault::Locked { folder: folder.to_owned(), waited: self.limit })
    }
}

/// A lock for running a command in a folder.
#[derive(Debug)]
pub(super) struct FolderLock {
    /// The folders of the lock files. Without any, the folders themselves are locked, which commands in them can do
    /// too.
    places: Vec<PathBuf>,
    /// The locks, which are released on drop.
    held: Vec<LockFile>,
}

impl FolderLock {
    /// Waits until no command changes a parent of this folder. The path has no symbolic links.
    pub(super) async fn above(root: &Path, wait: Wait<'_>) -> Result<Self, Fault> {
        let mut lock = Self { places: lock_file::places(root), held: Vec::new() };
        let mut folders: Vec<_> = root.ancestors().skip(1).collect();
        // From the top, so that no locked folder is moved meanwhile, and no two commands wait for each other.
        folders.reverse();
        for folder in folders {
            // A command cannot run in a folder that it cannot open.
            if !lock.places.is_empty() || File::open(folder).is_ok() {
                lock.add(folder, false, wait).await?;
            }
        }
        if root.canonicalize().map_err(Fault::Root)? != root {
            return Err(Fault::Root(io::Error::other("it was replaced by a symbolic link")));
        }
        Ok(lock)
    }

    /// Waits until no command changes this folder, a parent, or a folder in it. The path has no symbolic links.
    pub(super) async fn alone(root: &Path, wait: Wait<'_>) -> Result<Self, Fault> {
        let mut lock = Self::above(root, wait).await?;
        lock.add(root, true, wait).await?;
        Ok(lock)
    }

    async fn add(&mut self, folder: &Path, is_alone: bool, wait: Wait<'_>) -> Result<(), Fault> {
        if self.places.is_empty() {
            self.held.push(locked(None, folder, is_alone, wait).await?);
        }
        for place in &self.places {
            self.held.push(locked(Some(place.as_path()), folder, is_alone, wait).await?);
        }
        Ok(())
    }
}

async fn locked(place: Option<&Path>, folder: &Path, is_alone: bool, wait: Wait<'_>) -> Result<LockFile, Fault> {
    let locking = async {
        loop {
            if let Some(lock) = LockFile::try_lock(place, folder, is_alone)? {
                return io::Result::Ok(lock);
            }
            Delay::new(AGAIN).await;
        }
    };
    let locked = wait.until(folder, locking).await?;
    locked.map_err(|source| Fault::Lock { folder: folder.to_owned(), source })
}
