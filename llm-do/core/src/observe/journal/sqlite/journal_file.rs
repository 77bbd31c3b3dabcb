//! The records in a database, read by a program that may not be the one that writes it.

use std::path::Path;
use std::vec;

use super::super::{JournalError, Record};
use super::record_list::RecordList;
use super::tables::TABLES;
use crate::observe::database::DatabaseFile;

/// How many ids of runs are read together.
const RUNS: u32 = 1_000;

/// A database with the records of runs, which other processes may write to. Nothing is written.
#[derive(Debug)]
#[doc(hidden)]
pub struct JournalFile(DatabaseFile);

/// The records of a run in a database. The iterator ends after its first error.
#[derive(Debug)]
#[doc(hidden)]
pub struct RunRecords<'f> {
    file: &'f JournalFile,
    id: String,
    /// `None` at the end.
    list: Option<RecordList>,
    part: vec::IntoIter<Record>,
}

impl JournalFile {
    /// Opens the database. Blocks, as do the other functions.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is missing, or is not a journal of this version.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        Ok(Self(DatabaseFile::open(path, &TABLES)?))
    }

    /// Returns the ids of runs after the run with this number, in the order in which they began, with the number of the last of
    /// them: none at the end.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub fn runs(&self, after: i64) -> Result<(Vec<String>, i64), JournalError> {
        let sql = "SELECT run, id FROM journal_runs WHERE run > ?1 ORDER BY run LIMIT ?2";
        let rows: Vec<(i64, String)> = self.0.read(|connection| {
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map((after, RUNS), |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        })?;
        let last = rows.last().map_or(after, |(run, _)| *run);
        Ok((rows.into_iter().map(|(_, id)| id).collect(), last))
    }

    /// Returns the records of a run, in the order in which the steps ended; `None` if the run is unknown.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub fn records(&self, id: &str) -> Result<Option<RunRecords<'_>>, JournalError> {
        let list = self.0.read(|connection| RecordList::of(connection, id))?;
        let records =
            |list| RunRecords { file: self, id: id.to_owned(), list: Some(list), part: Vec::new().into_iter() };
        Ok(list.map(records))
    }
}

impl RunRecords<'_> {
    /// Reads the next part, which is empty at the end.
    fn read(&mut self) -> Result<(), JournalError> {
        let Some(mut list) = self.list.take() else { return Ok(()) };
        let part = self.file.0.read(|connection| list.next(connection))?;
        let deleted = || JournalError::InvalidValue {
            step: format!("the run `{}`", self.id),
            message: "its records were deleted while they were read".to_owned(),
        };
        let part = part.ok_or_else(deleted)?;
        self.list = Some(list).filter(|_| !part.is_empty());
        self.part = part.into_iter();
        Ok(())
    }
}

impl Iterator for RunRecords<'_> {
    type Item = Result<Record, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.part.as_slice().is_empty()
            && let Err(error) = self.read()
        {
            return Some(Err(error));
        }
        self.part.next().map(Ok)
    }
}
