//! Reads the records of a run part by part, so that a run of any length takes little memory.

use rusqlite::{Connection, OptionalExtension};

use super::super::Record;
use super::read::{record, records_of};

/// After so many bytes of inputs and outcomes, a part ends.
const PART_BYTES: usize = 1 << 20;
/// The maximum number of records in a part.
const PART: usize = 1_000;

const NUMBERS: &str = concat!(
    records_of!("SELECT last FROM journal_runs WHERE run = ?1 AND last > 0"),
    "SELECT record FROM list ORDER BY record DESC"
);

const ONE: &str = "SELECT key, parent, name, kind, place, overlapped, begun, callers, time, input, value, \
    octet_length(input) + octet_length(value) FROM journal_records WHERE record = ?1 AND forgotten = 0";

/// The records of a run that were not read yet.
#[derive(Debug)]
pub(crate) struct RecordList {
    run: i64,
    is_reduced: bool,
    /// Their numbers, the next one last.
    numbers: Vec<i64>,
}

impl RecordList {
    /// Returns the records of a run, as of now; `None` if the run is unknown.
    pub(crate) fn of(connection: &Connection, id: &str) -> rusqlite::Result<Option<Self>> {
        let sql = "SELECT run, reduced FROM journal_runs WHERE id = ?1";
        let found = connection.prepare_cached(sql)?.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        let Some((run, is_reduced)) = found else { return Ok(None) };
        let mut statement = connection.prepare_cached(NUMBERS)?;
        let numbers = statement.query_map([run], |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(Some(Self { run, is_reduced, numbers }))
    }

    /// Reads the records of a run, and keeps what `keep` returns of each: what it drops takes memory for one part only. Empty if the
    /// run is unknown, or was deleted meanwhile.
    pub(crate) fn read_parts(
        connection: &Connection,
        id: &str,
        keep: impl Fn(Record) -> Option<Record>,
    ) -> rusqlite::Result<Vec<Record>> {
        let Some(mut list) = Self::of(connection, id)? else { return Ok(Vec::new()) };
        let mut kept = Vec::new();
        loop {
            let Some(part) = list.next(connection)? else { return Ok(Vec::new()) };
            if part.is_empty() {
                return Ok(kept);
            }
            kept.extend(part.into_iter().filter_map(&keep));
        }
    }

    /// Reads the next records, in the order in which the steps ended: none at the end. `None` if they were deleted meanwhile.
    pub(crate) fn next(&mut self, connection: &Connection) -> rusqlite::Result<Option<Vec<Record>>> {
        // Another run may have records of these numbers once this one is deleted.
        let sql = "SELECT count(*) > 0 FROM journal_runs WHERE run = ?1 AND reduced = ?2";
        let is_kept: bool = connection.prepare_cached(sql)?.query_row((self.run, self.is_reduced), |row| row.get(0))?;
        if !is_kept {
            return Ok(None);
        }
        let (mut part, mut bytes) = (Vec::new(), 0);
        let mut statement = connection.prepare_cached(ONE)?;
        while part.len() < PART
            && bytes < PART_BYTES
            && let Some(number) = self.numbers.pop()
        {
            let read = statement.query_row([number], |row| Ok((record(row)?, row.get::<_, usize>(11)?)));
            // What is forgotten is left out.
            if let Some((record, size)) = read.optional()? {
                bytes += size;
                part.push(record);
            }
        }
        Ok(Some(part))
    }
}
