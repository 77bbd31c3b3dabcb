//! Locks of folders, which hold between processes: a command that ran beside another could replace a folder by a link to one outside,
//! which the sandbox of the other would then open.

mod lock_file;

use std::fs::File;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::{Duration, Instant};

use futures_timer::Delay;

use self::lock_file::LockFile;
use super::fault::Fault;
use crate::base::delay::within;

/// How often a lock that another command holds is tried.
const AGAIN: Duration = Duration::from_millis(20);
/// How long a call waits for another command before it reports that.
const REPORTED_AFTER: Duration = Duration::from_millis(500);

/// How long a call waits for other commands, in all.
#[derive(Clone, Copy)]
pub(super) struct Wait<'a> {
    began: Instant,
    limit: Duration,
    /// Called with a folder that another command has, if the call waits for it.
    report: &'a (dyn Fn(&Path) + Sync),
}

impl<'a> Wait<'a> {
    /// Begins to wait.
    pub(super) fn new(limit: Duration, report: &'a (dyn Fn(&Path) + Sync)) -> Self {
        Self { began: Instant::now(), limit, report }
    }

    fn left(self) -> Duration {
        self.limit.saturating_sub(self.began.elapsed())
    }

    /// Waits for the right to use a folder.
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

/// The right to run a command in a folder.
#[derive(Debug)]
pub(super) struct FolderLock {
    /// The folders for the files of locks. Without one, the folders are locked themselves, which the commands in them can do too.
    places: Vec<PathBuf>,
    /// The locks, which end when they are dropped.
    held: Vec<LockFile>,
}

impl FolderLock {
    /// Waits until no command changes a folder above this one. The path has no symbolic links.
    pub(super) async fn above(root: &Path, wait: Wait<'_>) -> Result<Self, Fault> {
        let mut lock = Self { places: lock_file::places(root), held: Vec::new() };
        let mut folders: Vec<_> = root.ancestors().skip(1).collect();
        // From the top, so that each is locked while nothing moves it, and no two commands wait for each other.
        folders.reverse();
        for folder in folders {
            // Nor can a command run in a folder that cannot be listed.
            if !lock.places.is_empty() || File::open(folder).is_ok() {
                lock.add(folder, false, wait).await?;
            }
        }
        if root.canonicalize().map_err(Fault::Root)? != root {
            return Err(Fault::Root(io::Error::other("it was replaced by a symbolic link")));
        }
        Ok(lock)
    }

    /// Waits until no command changes this folder, one above, or one in it. The path has no symbolic links.
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
