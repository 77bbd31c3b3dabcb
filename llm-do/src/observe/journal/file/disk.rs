//! A journal's file on a disk: the one place where its bytes are written and synced, so that a test can lose them.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A journal's file on a disk. What is written, cut off or named is sure to survive a loss of power only once it is synced.
pub(super) trait Disk: Send + 'static {
    /// Returns a reader of the file, from its beginning.
    fn reader(&self) -> io::Result<Box<dyn Read + Send>>;

    /// Returns the length in bytes.
    fn length(&self) -> io::Result<u64>;

    /// Writes bytes from a place in the file on.
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()>;

    /// Cuts the file off.
    fn cut_off(&mut self, length: u64) -> io::Result<()>;

    /// Returns when the bytes of the file, and its length, would survive a loss of power.
    fn sync(&mut self) -> io::Result<()>;

    /// Returns when the file would be found by its name after a loss of power.
    fn sync_name(&mut self) -> io::Result<()>;

    /// Writes lines at the end, and returns when they would survive a loss of power.
    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        let end = self.length()?;
        self.write_at(end, lines)?;
        self.sync()
    }
}

/// A file that no other journal has open; freed when dropped.
#[derive(Debug)]
pub(super) struct LockedFile {
    file: File,
    path: PathBuf,
}

impl LockedFile {
    /// Takes a file that was locked.
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

    fn cut_off(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn sync_name(&mut self) -> io::Result<()> {
        sync_folder_of(&self.path)
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        // Closing would free it too, but not while a child that is being started has a copy of the file.
        drop(self.file.unlock());
    }
}

#[cfg(unix)]
fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

/// Elsewhere, folders cannot be synced.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
fn sync_folder_of(_: &Path) -> io::Result<()> {
    Ok(())
}
