//! Opening a journal file: locks it, reads it, and truncates an incomplete end.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::super::JournalError;
use super::super::replay::Replay;
use super::disk::{Disk, LockedFile};
use super::records::{HEADER, Line, Records};
use crate::base::open_file::{make_private, without_waiting};

/// Opens the file at `path` to resume it, or creates it; returns the locked file and its records.
pub(super) fn open(path: &Path) -> Result<(LockedFile, Replay), JournalError> {
    let io = |source| JournalError::Io { path: path.to_owned(), source };
    let mut options = OpenOptions::new();
    without_waiting(options.read(true).write(true).create(true).truncate(false));
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(io)?;
    check_is_file(&file, path)?;
    if file.metadata().map_err(io)?.len() == 0 {
        make_private(&file).map_err(io)?;
    }
    let mut file = lock(file, path)?;
    let replay = prepare(&mut file, path)?;
    Ok((file, replay))
}

/// Reads the records of a journal file, and prepares the file for appending.
pub(super) fn prepare(disk: &mut impl Disk, path: &Path) -> Result<Replay, JournalError> {
    let io = |source| JournalError::Io { path: path.to_owned(), source };
    let length = disk.length().map_err(io)?;
    let mut records = Records::new(path.to_owned(), disk.reader().map_err(io)?, length)?;
    let replay = load(&mut records)?;
    match records.valid_len() {
        0 => create(disk),
        end => resume(disk, end, records.is_of_this_version()),
    }
    .map_err(io)?;
    Ok(replay)
}

/// Opens the file at `path` to read its records.
pub(super) fn read(path: PathBuf) -> Result<Records, JournalError> {
    let file = without_waiting(OpenOptions::new().read(true))
        .open(&path)
        .map_err(|source| JournalError::Io { path: path.clone(), source })?;
    check_is_file(&file, &path)?;
    let io = |source| JournalError::Io { path: path.clone(), source };
    let length = file.metadata().map_err(io)?.len();
    let first = file.try_clone().map_err(io)?;
    let forgotten = Records::new(path.clone(), Box::new(first), length)?.forgotten();
    (&file).seek(SeekFrom::Start(0)).map_err(io)?;
    Ok(Records::new(path, Box::new(file), length)?.without(forgotten))
}

/// Rejects pipes and devices, which could be read forever.
fn check_is_file(file: &File, path: &Path) -> Result<(), JournalError> {
    let metadata = file.metadata().map_err(|source| JournalError::Io { path: path.to_owned(), source })?;
    if metadata.is_file() {
        return Ok(());
    }
    Err(JournalError::Refused { path: path.to_owned(), message: "not a regular file; choose another path".to_owned() })
}

fn lock(file: File, path: &Path) -> Result<LockedFile, JournalError> {
    match file.try_lock() {
        Ok(()) => Ok(LockedFile::new(file, path.to_owned())),
        Err(TryLockError::WouldBlock) => Err(JournalError::Locked { path: path.to_owned() }),
        Err(TryLockError::Error(source)) => Err(JournalError::Io { path: path.to_owned(), source }),
    }
}

fn load(records: &mut Records) -> Result<Replay, JournalError> {
    let mut replay = Replay::default();
    while let Some(line) = records.next_line().transpose()? {
        let is_new = match line {
            Line::Forget(line) => {
                replay.forget(&line.forget);
                true
            }
            Line::Record(record) => replay.load(record),
        };
        if !is_new {
            return Err(records.corrupt("duplicate key, already recorded on an earlier line".to_owned()));
        }
    }
    Ok(replay)
}

/// Writes and syncs the header of a new journal before the first record, so that a crash cannot lose only the header.
fn create(disk: &mut impl Disk) -> io::Result<()> {
    if disk.length()? > 0 {
        disk.truncate(0)?;
    }
    disk.write_at(0, HEADER)?;
    disk.sync()?;
    disk.sync_name()
}

/// Truncates an incomplete end, and updates the header to this version; the header of version 1 has the same length.
///
/// The truncation is synced before new lines are written there: after a crash, remains of the old end could be read as lines.
fn resume(disk: &mut impl Disk, end: u64, is_of_this_version: bool) -> io::Result<()> {
    if disk.length()? > end {
        disk.truncate(end)?;
        disk.sync()?;
    }
    if !is_of_this_version {
        disk.write_at(0, HEADER)?;
    }
    // The process that created the file may have died before it synced the name.
    disk.sync_name()
}
