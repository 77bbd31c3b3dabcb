//! A partially downloaded file and the checksum of its content.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::checksum::{Checksum, Hasher};

/// A partially downloaded file. Its checksum covers exactly the bytes on disk.
#[derive(Debug)]
pub(super) struct PartialFile {
    path: PathBuf,
    file: File,
    hasher: Hasher,
    length: u64,
}

impl PartialFile {
    /// Opens the file at `path`, with the content of an earlier attempt.
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = File::options().create(true).truncate(false).read(true).write(true).open(&path)?;
        let left = file.metadata()?.len();
        let mut hasher = Hasher::default();
        // Reading leaves the file position at the end, where writing continues.
        let length = hasher.add_all(&mut io::Read::take(&mut file, left))?;
        Ok(Self { path, file, hasher, length })
    }

    /// Returns the length in bytes.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Appends `bytes`.
    pub(super) fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.hasher.add(bytes);
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Truncates the file to zero bytes.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        if self.length == 0 {
            return Ok(());
        }
        self.file.set_len(0)?;
        io::Seek::rewind(&mut self.file)?;
        (self.hasher, self.length) = (Hasher::default(), 0);
        Ok(())
    }

    /// Returns the checksum of the content.
    pub(super) fn checksum(&self) -> Checksum {
        self.hasher.clone().value()
    }

    /// Syncs the file to disk and renames it to `path`.
    pub(super) fn finish(self, path: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        drop(self.file);
        fs::rename(&self.path, path)
    }

    /// Deletes the file.
    pub(super) fn discard(self) {
        drop(self.file);
        // A failure only costs disk space: the next attempt continues with the file.
        let _ = fs::remove_file(&self.path);
    }
}
