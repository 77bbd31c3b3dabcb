//! The file operations of a journal, as a trait, so that tests can simulate a loss of power.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A journal file on a disk. Writes, truncations and the file name survive a loss of power only once they are synced.
pub(super) trait Disk: Send + 'static {
    /// Returns a reader that starts at the beginning of the file.
    fn reader(&self) -> io::Result<Box<dyn Read + Send>>;

    /// Returns the length in bytes.
    fn length(&self) -> io::Result<u64>;

    /// Writes bytes at an offset.
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()>;

    /// Truncates the file to a length in bytes.
    fn truncate(&mut self, length: u64) -> io::Result<()>;

    /// Syncs the content and the length of the file to disk.
    fn sync(&mut self) -> io::Result<()>;

    /// Syncs the directory entry of the file to disk.
    fn sync_name(&mut self) -> io::Result<()>;

    /// Appends lines and syncs them to disk.
    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        let end = self.length()?;
        self.write_at(end, lines)?;
        self.sync()
    }
}

/// A file with an exclusive lock, which is released on drop.
#[derive(Debug)]
pub(super) struct LockedFile {
    file: File,
    path: PathBuf,
}

impl LockedFile {
    /// Wraps a file that the caller has locked.
    pub(super) fn new(file: File, path: PathBuf) -> Self {
        Self { file, path }
    }
}

impl Disk for LockedFile {
    fn reader(&self) -> io::Result<Box<dyn Read + Send>> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(0))?;
        Ok(Box::new(file))
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(at))?;
        self.file.write_all(bytes)
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn sync_name(&mut self) -> io::Result<()> {
        sync_parent_directory(&self.path)
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        // Closing the file would not release the lock while a child process that is being spawned holds a copy of the
        // handle.
        drop(self.file.unlock());
    }
}

#[cfg(unix)]
fn sync_parent_directory(path: &Path) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(directory)?.sync_all()
}

/// On other systems, directories cannot be synced.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "same signature as on Unix")]
fn sync_parent_directory(_: &Path) -> io::Result<()> {
    Ok(())
}
