//! Opening a journal's file: locked, read, and cut off where a crash tore it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::super::JournalError;
use super::super::replay::Replay;
use super::disk::{Disk, LockedFile};
use super::records::{HEADER, Line, Records};
use crate::base::open_file::{make_private, without_waiting};

/// Opens the file at `path` to resume it, or creates it; returns it at its end, with what it holds.
pub(super) fn open(path: &Path) -> Result<(LockedFile, Replay), JournalError> {
    let io = |source| JournalError::Io { path: path.to_owned(), source };
    let mut options = OpenOptions::new();
    without_waiting(options.read(true).write(true).create(true).truncate(false));
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(io)?;
    refuse_other_than_files(&file, path)?;
    if file.metadata().map_err(io)?.len() == 0 {
        make_private(&file).map_err(io)?;
    }
    let mut file = lock(file, path)?;
    let replay = prepare(&mut file, path)?;
    Ok((file, replay))
}

/// Reads what a journal's file holds, and makes it one that can be appended to.
pub(super) fn prepare(disk: &mut impl Disk, path: &Path) -> Result<Replay, JournalError> {
    let io = |source| JournalError::Io { path: path.to_owned(), source };
    let length = disk.length().map_err(io)?;
    let mut records = Records::new(path.to_owned(), disk.reader().map_err(io)?, length)?;
    let replay = load(&mut records)?;
    match records.end() {
        0 => begin(disk),
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
    refuse_other_than_files(&file, &path)?;
    let io = |source| JournalError::Io { path: path.clone(), source };
    let length = file.metadata().map_err(io)?.len();
    let first = file.try_clone().map_err(io)?;
    let forgotten = Records::new(path.clone(), Box::new(first), length)?.forgotten();
    (&file).seek(SeekFrom::Start(0)).map_err(io)?;
    Ok(Records::new(path, Box::new(file), length)?.without(forgotten))
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
        Ok(()) => Ok(LockedFile::new(file, path.to_owned())),
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

/// Begins a new journal. Its header is on the disk before a line is: else it could be missing where a line is not.
fn begin(disk: &mut impl Disk) -> io::Result<()> {
    if disk.length()? > 0 {
        disk.cut_off(0)?;
    }
    disk.write_at(0, HEADER)?;
    disk.sync()?;
    disk.sync_name()
}

/// Cuts off the torn end, and gives the file the header of this version, which is as long as that of version 1.
///
/// The end is gone for sure before a line is written over it: else a part of it could be taken for a line after that.
fn resume(disk: &mut impl Disk, end: u64, is_of_this_version: bool) -> io::Result<()> {
    if disk.length()? > end {
        disk.cut_off(end)?;
        disk.sync()?;
    }
    if !is_of_this_version {
        disk.write_at(0, HEADER)?;
    }
    // A process that died while it began the file may not have come to this.
    disk.sync_name()
}
