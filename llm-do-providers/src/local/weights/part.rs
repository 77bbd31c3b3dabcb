//! A file while it is fetched: only as much is on the disk as counts in its checksum.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::checksum::{Checksum, Sum};

/// A file while it is fetched.
#[derive(Debug)]
pub(super) struct Part {
    path: PathBuf,
    file: File,
    sum: Sum,
    length: u64,
}

impl Part {
    /// Opens the part at `path`, with what an earlier attempt left there.
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = File::options().create(true).truncate(false).read(true).write(true).open(&path)?;
        let left = file.metadata()?.len();
        let mut sum = Sum::default();
        // Reading leaves the place to write at right behind what was read.
        let length = sum.add_all(&mut io::Read::take(&mut file, left))?;
        Ok(Self { path, file, sum, length })
    }

    /// Returns how much is there, in bytes.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Adds to the end.
    pub(super) fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.sum.add(bytes);
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Begins again.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        if self.length == 0 {
            return Ok(());
        }
        self.file.set_len(0)?;
        io::Seek::rewind(&mut self.file)?;
        (self.sum, self.length) = (Sum::default(), 0);
        Ok(())
    }

    /// Returns the checksum of what is there.
    pub(super) fn checksum(&self) -> Checksum {
        self.sum.clone().value()
    }

    /// Makes the whole file known by the name `place`, once the disk has it.
    pub(super) fn finish(self, place: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        drop(self.file);
        fs::rename(&self.path, place)
    }

    /// Leaves nothing.
    pub(super) fn discard(self) {
        drop(self.file);
        // Whoever comes next begins with what is there, so that a failure costs nothing but room.
        let _ = fs::remove_file(&self.path);
    }
}
