//! The lock file of a folder, named by its device and inode, in a folder that no command can open.
//!
//! The last call that has locked a file removes it.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::path::{Path, PathBuf};

use etcetera::base_strategy::{BaseStrategy, choose_base_strategy};

/// The lock of a folder.
#[derive(Debug)]
pub(super) struct LockFile {
    file: File,
    /// The path of the lock file; `None` if the folder itself is locked.
    path: Option<PathBuf>,
}

impl LockFile {
    /// Locks a folder by a file in `place`, or the folder itself without a place; returns `None` if another call has
    /// locked it.
    pub(super) fn try_lock(place: Option<&Path>, folder: &Path, is_alone: bool) -> io::Result<Option<Self>> {
        let id = system::id(&fs::metadata(folder)?);
        let path = place.map(|place| place.join(format!("{}-{}", id.0, id.1)));
        let file = match &path {
            Some(path) => system::open(path)?,
            None => File::open(folder)?,
        };
        // Checked again, since the folder may have been replaced and the lock file removed before it was locked.
        let is_locked = system::try_lock(&file, is_alone)?
            && system::id(&fs::metadata(folder)?) == id
            && is_at(&file, path.as_deref().unwrap_or(folder));
        Ok(is_locked.then(|| Self { file, path }))
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        let Some(path) = &self.path else { return };
        if matches!(system::try_lock(&self.file, true), Ok(true)) && is_at(&self.file, path) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Returns whether a path still leads to an open file or folder.
fn is_at(file: &File, path: &Path) -> bool {
    let ids = file.metadata().and_then(|own| Ok((system::id(&own), system::id(&fs::symlink_metadata(path)?))));
    ids.is_ok_and(|(own, found)| own == found)
}

/// Returns the folders of lock files that a command in `root` cannot open, in the order in which they are locked.
///
/// A file is locked in each of them, since the folders of another program may differ: a command in a home folder has
/// one less, and variables differ.
pub(super) fn places(root: &Path) -> Vec<PathBuf> {
    let state = choose_base_strategy().ok().map(|base| base.state_dir().unwrap_or_else(|| base.data_dir()));
    let places = state.map(|state| state.join("llm-do/locks")).into_iter().chain([system::temporary()]);
    places.filter_map(|place| private(&place).ok()).filter(|place| !place.starts_with(root)).collect()
}

/// Creates a folder that only this user can open, and returns its path without symbolic links.
fn private(place: &Path) -> io::Result<PathBuf> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(place)?;
    if system::is_private(place)? { place.canonicalize() } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

#[cfg(unix)]
mod system {
    use std::fs::{self, File, Metadata};
    use std::io;
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
    use std::path::{Path, PathBuf};

    use rustix::fs::{Access, FlockOperation, access, flock};
    use rustix::io::Errno;
    use rustix::process::geteuid;

    /// The lowest bit of the rights of an owner, above those of the group and of all users.
    const OWNER: u32 = 6;

    /// Returns the device and the inode.
    pub(super) fn id(metadata: &Metadata) -> (u64, u64) {
        (metadata.dev(), metadata.ino())
    }

    /// Opens a file, which is created if it is missing.
    pub(super) fn open(path: &Path) -> io::Result<File> {
        File::options().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
    }

    /// Locks an open file; returns `false` if another call has locked it.
    pub(super) fn try_lock(file: &File, is_alone: bool) -> io::Result<bool> {
        let operation =
            if is_alone { FlockOperation::NonBlockingLockExclusive } else { FlockOperation::NonBlockingLockShared };
        match flock(file, operation) {
            Ok(()) => Ok(true),
            Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns this user's folder that does not depend on variables.
    pub(super) fn temporary() -> PathBuf {
        format!("/tmp/llm-do-locks-{}", geteuid().as_raw()).into()
    }

    /// Returns whether a folder belongs to this user and no other user may open it; fails if it cannot be written.
    pub(super) fn is_private(folder: &Path) -> io::Result<bool> {
        let metadata = fs::symlink_metadata(folder)?;
        access(folder, Access::WRITE_OK)?;
        Ok(metadata.is_dir() && metadata.uid() == geteuid().as_raw() && metadata.mode().trailing_zeros() >= OWNER)
    }
}

/// Only Linux has a sandbox, and locks.
#[cfg(not(unix))]
mod system {
    use std::fs::{File, Metadata};
    use std::io;
    use std::path::{Path, PathBuf};

    pub(super) fn id(_: &Metadata) -> (u64, u64) {
        (0, 0)
    }

    pub(super) fn open(_: &Path) -> io::Result<File> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn try_lock(_: &File, _: bool) -> io::Result<bool> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn temporary() -> PathBuf {
        std::env::temp_dir().join("llm-do-locks")
    }

    pub(super) fn is_private(_: &Path) -> io::Result<bool> {
        Ok(false)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{LockFile, places};

    #[test]
    fn a_file_is_removed_by_the_last_call_that_has_locked_it() {
        let (folder, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let lock = |is_alone| LockFile::try_lock(Some(place.path()), folder.path(), is_alone).unwrap();
        let count = || fs::read_dir(place.path()).unwrap().count();
        let (one, two) = (lock(false).unwrap(), lock(false).unwrap());
        assert!(lock(true).is_none());
        drop(one);
        assert_eq!(count(), 1);
        drop(two);
        assert_eq!(count(), 0);
        let alone = lock(true).unwrap();
        assert!(lock(false).is_none() && lock(true).is_none());
        drop(alone);
        assert_eq!(count(), 0);
    }

    #[test]
    fn without_a_place_that_commands_cannot_open_the_folder_is_locked_itself() {
        assert!(places(Path::new("/")).is_empty());
        let folder = tempfile::tempdir().unwrap();
        let lock = |is_alone| LockFile::try_lock(None, folder.path(), is_alone).unwrap();
        let alone = lock(true).unwrap();
        assert!(lock(false).is_none());
        drop(alone);
        assert!(lock(false).is_some() && folder.path().exists());
    }

    #[test]
    fn no_place_is_in_the_folder_of_the_commands() {
        for root in ["/tmp", "/home", "/root"].map(Path::new) {
            assert!(places(root).iter().all(|place| !place.starts_with(root)));
        }
    }
}
