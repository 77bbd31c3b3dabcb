//! Opening a journal file: locks it, reads it, and truncates an incomplete end.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::super::replay::Replay;
use super::super::{JournalError, Record, StepKind, key};
use super::disk::{Disk, LockedFile};
use super::records::{HEADER, Line, Records};
use crate::base::open_file::{make_private, without_waiting};

/// Opens the file at `path` to resume it, or creates it; returns the locked file and its records.
pub(super) fn open(path: &Path) -> Result<(LockedFile, Replay), JournalError> {
    open_with(path, load)
}

/// Opens the file at `path` to add runs to it, or creates it; returns the locked file, and how many runs it has of each root call.
pub(super) fn append(path: &Path) -> Result<(LockedFile, HashMap<String, u32>), JournalError> {
    open_with(path, count)
}

fn open_with<T>(
    path: &Path,
    read: impl FnOnce(&mut Records) -> Result<T, JournalError>,
) -> Result<(LockedFile, T), JournalError> {
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
    let found = prepare_with(&mut file, path, read)?;
    Ok((file, found))
}

/// Reads the records of a journal file, and prepares the file for appending.
#[cfg(test)]
pub(super) fn prepare(disk: &mut impl Disk, path: &Path) -> Result<Replay, JournalError> {
    prepare_with(disk, path, load)
}

fn prepare_with<T>(
    disk: &mut impl Disk,
    path: &Path,
    read: impl FnOnce(&mut Records) -> Result<T, JournalError>,
) -> Result<T, JournalError> {
    let io = |source| JournalError::Io { path: path.to_owned(), source };
    let length = disk.length().map_err(io)?;
    let mut records = Records::new(path.to_owned(), disk.reader().map_err(io)?, length)?;
    let found = read(&mut records)?;
    match records.valid_len() {
        0 => create(disk),
        end => resume(disk, end, records.is_of_this_version()),
    }
    .map_err(io)?;
    Ok(found)
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

/// Counts the runs by their root calls.
fn count(records: &mut Records) -> Result<HashMap<String, u32>, JournalError> {
    let mut runs = HashMap::new();
    while let Some(line) = records.next_line().transpose()? {
        if let Line::Record(Record { kind: StepKind::Run, key, .. }) = line {
            *runs.entry(key::unnumbered(&key).0.to_owned()).or_default() += 1;
        }
    }
    Ok(runs)
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
