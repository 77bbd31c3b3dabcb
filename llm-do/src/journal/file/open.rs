//! Opening a journal's file: locked, read, and cut off where a crash tore it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use super::super::JournalError;
use super::super::replay::Replay;
use super::records::{HEADER, Line, Records};

/// A file that no other journal has open; freed when dropped.
#[derive(Debug)]
pub(super) struct LockedFile(File);

impl Deref for LockedFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        // Closing would free it too, but not while a child that is being started has a copy of the file.
        drop(self.0.unlock());
    }
}

/// Opens the file at `path` to resume it, or creates it; returns it at its end, with what it holds.
pub(super) fn open(path: &Path) -> Result<(LockedFile, Replay), JournalError> {
    let io = |source| JournalError::Io { path: path.to_owned(), source };
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(io)?;
    refuse_other_than_files(&file, path)?;
    let file = lock(file, path)?;
    let mut records = Records::new(path.to_owned(), file.try_clone().map_err(io)?)?;
    let replay = load(&mut records)?;
    match records.end() {
        0 => begin(&file, path).map_err(io)?,
        end => resume(&file, end).map_err(io)?,
    }
    Ok((file, replay))
}

/// Opens the file at `path` to read its records.
pub(super) fn read(path: PathBuf) -> Result<Records, JournalError> {
    let file = File::open(&path).map_err(|source| JournalError::Io { path: path.clone(), source })?;
    refuse_other_than_files(&file, &path)?;
    let again = File::open(&path).map_err(|source| JournalError::Io { path: path.clone(), source })?;
    Records::new(path, file)?.without_forgotten(again)
}

/// A pipe or a device would be read without an end.
fn refuse_other_than_files(file: &File, path: &Path) -> Result<(), JournalError> {
    let metadata = file.metadata().map_err(|source| JournalError::Io { path: path.to_owned(), source })?;
    if metadata.is_file() {
        return Ok(());
    }
    Err(JournalError::Refused { path: path.to_owned(), message: "it is no file; choose one".to_owned() })
}

fn lock(file: File, path: &Path) -> Result<LockedFile, JournalError> {
    match file.try_lock() {
        Ok(()) => Ok(LockedFile(file)),
        Err(TryLockError::WouldBlock) => Err(JournalError::Locked { path: path.to_owned() }),
        Err(TryLockError::Error(source)) => Err(JournalError::Io { path: path.to_owned(), source }),
    }
}

fn load(records: &mut Records) -> Result<Replay, JournalError> {
    let mut replay = Replay::default();
    while let Some(line) = records.next_line().transpose()? {
        let is_new = match line {
            Line::Forgotten(forgotten) => {
                replay.forget(&forgotten.forget);
                true
            }
            Line::Record(record) => replay.load(record),
        };
        if !is_new {
            return Err(records.corrupt("its key is recorded on an earlier line".to_owned()));
        }
    }
    Ok(replay)
}

fn begin(mut file: &File, path: &Path) -> io::Result<()> {
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(HEADER)?;
    file.sync_all()?;
    sync_folder_of(path)
}

/// Gives the file the header of this version, which is as long as that of version 1, and cuts off its torn end.
fn resume(mut file: &File, end: u64) -> io::Result<()> {
    let mut header = vec![0; HEADER.len()];
    file.seek(SeekFrom::Start(0))?;
    file.read_exact(&mut header)?;
    if header != HEADER {
        file.seek(SeekFrom::Start(0))?;
        file.write_all(HEADER)?;
        file.sync_all()?;
    }
    cut_off(file, end)
}

fn cut_off(mut file: &File, end: u64) -> io::Result<()> {
    if file.metadata()?.len() > end {
        file.set_len(end)?;
        file.sync_all()?;
    }
    file.seek(SeekFrom::Start(end)).map(drop)
}

/// Sees that the file is found after a crash: its name is in its folder.
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
