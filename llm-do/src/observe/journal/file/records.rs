//! Reading a journal's file, line by line.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::super::{JournalError, Record};

const FORMAT: &str = "llm-do journal";
/// Version 1 has no lines that forget records.
const VERSION: u32 = 2;
/// The first line of every journal.
pub(super) const HEADER: &[u8] = b"{\"format\":\"llm-do journal\",\"version\":2}\n";
/// The header of version 1, as long as that of this version, which takes its place before anything is added.
const HEADER_1: &[u8] = b"{\"format\":\"llm-do journal\",\"version\":1}\n";
/// How long a header may be, of any version; what is no journal is not read further.
const MAX_HEADER: u64 = 1024;

/// A line that is no record: the records under these keys, above it, no longer count.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Forgotten {
    pub(super) forget: Vec<Arc<str>>,
    /// When: RFC 3339, UTC.
    pub(super) time: Timestamp,
}

/// How the line of a [`Forgotten`] begins, as no record's does.
const FORGET: &[u8] = b"{\"forget\":";

/// A line after the header.
pub(super) enum Line {
    Record(Record),
    Forgotten(Forgotten),
}

#[derive(Deserialize)]
struct Header {
    format: String,
    version: u32,
}

/// The records of a journal's file, read one line at a time: [`FileJournal::read`](super::FileJournal::read).
pub struct Records {
    path: PathBuf,
    reader: BufReader<Box<dyn Read + Send>>,
    /// The number of the line that was read last.
    line: usize,
    /// Where the last whole record ends; 0 if not even the header is whole.
    end: u64,
    is_done: bool,
    is_of_this_version: bool,
    /// The line before which the records of a key no longer count, if there is one.
    forgotten: HashMap<Arc<str>, usize>,
}

impl Records {
    /// Reads the header of a file of so many bytes. A file that is empty, or holds the beginning of a header, is a journal
    /// without records: a crash may leave one, and zeros for what was not written.
    pub(super) fn new(path: PathBuf, file: Box<dyn Read + Send>, length: u64) -> Result<Self, JournalError> {
        let mut reader = BufReader::new(file);
        let mut header = Vec::new();
        if let Err(source) = (&mut reader).take(MAX_HEADER).read_until(b'\n', &mut header) {
            return Err(JournalError::Io { path, source });
        }
        let is_whole = header.ends_with(b"\n");
        let zeros = header.iter().rev().take_while(|byte| **byte == 0).count();
        let rest = &header[..header.len() - zeros];
        let is_short = length <= HEADER.len() as u64;
        let is_torn = !is_whole && is_short && [HEADER, HEADER_1].iter().any(|whole| whole.starts_with(rest));
        if !is_torn {
            check(&path, &header)?;
        }
        let end = if is_whole { header.len() as u64 } else { 0 };
        Ok(Self {
            path,
            reader,
            line: 1,
            end,
            is_done: !is_whole,
            is_of_this_version: header == HEADER,
            forgotten: HashMap::new(),
        })
    }

    /// Returns where the last whole record ends, once all are read.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Returns whether the header is that of this version.
    pub(super) fn is_of_this_version(&self) -> bool {
        self.is_of_this_version
    }

    /// Returns the error that the line that was read last is no record.
    pub(super) fn corrupt(&self, message: String) -> JournalError {
        JournalError::Corrupt { path: self.path.clone(), line: self.line, message }
    }

    /// Reads all lines, and returns the keys whose records a line forgets, each with the number of the last such line.
    ///
    /// A line behind a torn one does not count, as opening the journal cuts it off.
    pub(super) fn forgotten(mut self) -> HashMap<Arc<str>, usize> {
        let mut found = HashMap::new();
        // An error is told where the records are read.
        while let Some(Ok(line)) = self.next_line() {
            if let Line::Forgotten(Forgotten { forget, .. }) = line {
                found.extend(forget.into_iter().map(|key| (key, self.line)));
            }
        }
        found
    }

    /// Leaves out records that a line further down forgets, as [`forgotten`](Self::forgotten) found them.
    pub(super) fn without(self, forgotten: HashMap<Arc<str>, usize>) -> Self {
        Self { forgotten, ..self }
    }

    /// Reads the next line.
    pub(super) fn next_line(&mut self) -> Option<Result<Line, JournalError>> {
        if self.is_done {
            return None;
        }
        let next = self.read().transpose();
        self.is_done = !matches!(next, Some(Ok(_)));
        next
    }

    fn read(&mut self) -> Result<Option<Line>, JournalError> {
        let mut line = Vec::new();
        self.reader.read_until(b'\n', &mut line).map_err(|source| self.io(source))?;
        self.line += 1;
        if !line.ends_with(b"\n") {
            return Ok(None);
        }
        match parse(&line) {
            Ok(parsed) => {
                self.end += line.len() as u64;
                Ok(Some(parsed))
            }
            Err(error) if !error.is_data() && self.is_torn()? => Ok(None),
            Err(error) => Err(self.corrupt(in_words(&error))),
        }
    }

    /// Returns whether a crash may have torn the line that was read last: no line after it was written once it was synced.
    ///
    /// Lines that were written with those before them begin with a space. So a line without one, if it is whole, was written
    /// when all before it was on the disk.
    fn is_torn(&mut self) -> Result<bool, JournalError> {
        let mut line = Vec::new();
        loop {
            line.clear();
            self.reader.read_until(b'\n', &mut line).map_err(|source| self.io(source))?;
            if !line.ends_with(b"\n") {
                return Ok(true);
            }
            if !line.starts_with(b" ") && parse(&line).is_ok() {
                return Ok(false);
            }
        }
    }

    fn io(&self, source: io::Error) -> JournalError {
        JournalError::Io { path: self.path.clone(), source }
    }
}

impl Iterator for Records {
    type Item = Result<Record, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.next_line()? {
                Ok(Line::Record(record)) if self.forgotten.get(&record.key).is_some_and(|at| self.line < *at) => {}
                Ok(Line::Record(record)) => return Some(Ok(record)),
                Ok(Line::Forgotten(_)) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl fmt::Debug for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records").field("path", &self.path).field("line", &self.line).finish_non_exhaustive()
    }
}

/// Returns a line without the space that says that it was written with the line before it.
fn unmarked(line: &[u8]) -> &[u8] {
    line.strip_prefix(b" ").unwrap_or(line)
}

fn parse(line: &[u8]) -> serde_json::Result<Line> {
    if unmarked(line).starts_with(FORGET) {
        return serde_json::from_slice(line).map(Line::Forgotten);
    }
    serde_json::from_slice(line).map(Line::Record)
}

fn check(path: &Path, header: &[u8]) -> Result<(), JournalError> {
    let refused = |message| Err(JournalError::Refused { path: path.to_owned(), message });
    match serde_json::from_slice(header) {
        Ok(Header { format, version: 1..=VERSION }) if format == FORMAT => Ok(()),
        Ok(Header { format, version }) if format == FORMAT => refused(format!(
            "it has version {version} of the format, and this llm-do knows versions up to {VERSION}; resume it with the llm-do \
             that wrote it, or begin a new one"
        )),
        _ => refused("it is no journal, so nothing is written to it; choose another file".to_owned()),
    }
}

/// Says what is wrong with a line, without what it holds.
fn in_words(error: &serde_json::Error) -> String {
    let column = error.column();
    if error.is_data() {
        return format!("a field is missing or of another type, before column {column}");
    }
    format!("it is no JSON from column {column} on")
}
