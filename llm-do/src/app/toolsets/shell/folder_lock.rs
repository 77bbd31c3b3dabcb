//! Locks of folders, which hold between processes: a command that ran beside another could replace a folder by a link to one outside,
//! which the sandbox of the other would then open.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use futures_timer::Delay;

use super::fault::Fault;

/// How often a lock that another command holds is tried.
const AGAIN: Duration = Duration::from_millis(20);

/// The right to run a command in a folder.
#[derive(Debug)]
pub(super) struct FolderLock {
    /// Open folders, whose locks end when they are closed.
    held: Vec<File>,
}

impl FolderLock {
    /// Waits until no command changes a folder above this one. The path has no symbolic links.
    pub(super) async fn above(root: &Path) -> Result<Self, Fault> {
        let mut held = Vec::new();
        let mut folders: Vec<_> = root.ancestors().skip(1).collect();
        // From the top, so that each is opened while nothing moves it, and no two commands wait for each other.
        folders.reverse();
        for folder in folders {
            // Nor can a command run in one that cannot be listed.
            if let Ok(file) = File::open(folder) {
                held.push(locked(file, folder, false).await?);
            }
        }
        if root.canonicalize().map_err(Fault::Root)? != root {
            return Err(Fault::Root(io::Error::other("it was replaced by a symbolic link")));
        }
        Ok(Self { held })
    }

    /// Waits until no command changes this folder, one above, or one in it. The path has no symbolic links.
    pub(super) async fn alone(root: &Path) -> Result<Self, Fault> {
        let mut lock = Self::above(root).await?;
        let file = File::open(root).map_err(Fault::Root)?;
        lock.held.push(locked(file, root, true).await?);
        Ok(lock)
    }
}

async fn locked(file: File, folder: &Path, is_alone: bool) -> Result<File, Fault> {
    loop {
        match try_lock(&file, is_alone) {
            Ok(true) => return Ok(file),
            Ok(false) => Delay::new(AGAIN).await,
            Err(source) => return Err(Fault::Lock { folder: folder.to_owned(), source }),
        }
    }
}

/// Locks an open folder; returns whether no other command has locked it.
#[cfg(unix)]
fn try_lock(file: &File, is_alone: bool) -> io::Result<bool> {
    use rustix::fs::{FlockOperation, flock};
    use rustix::io::Errno;

    let operation =
        if is_alone { FlockOperation::NonBlockingLockExclusive } else { FlockOperation::NonBlockingLockShared };
    match flock(file, operation) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Only Linux has a sandbox.
#[cfg(not(unix))]
fn try_lock(_: &File, _: bool) -> io::Result<bool> {
    Err(io::ErrorKind::Unsupported.into())
}
