//! Reads a journal file line by line.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::super::{JournalError, Record};

const FORMAT: &str = "llm-do journal";
/// Version 1 has no forget lines.
const VERSION: u32 = 2;
/// The first line of a new journal.
pub(super) const HEADER: &[u8] = b"{\"format\":\"llm-do journal\",\"version\":2}\n";
/// The header of version 1; it has the same length as [`HEADER`], which replaces it before lines are appended.
const HEADER_1: &[u8] = b"{\"format\":\"llm-do journal\",\"version\":1}\n";
/// The maximum length of a header of any version, in bytes: in a file without a header, no more is read.
const MAX_HEADER: u64 = 1024;

/// A line that forgets the records of these keys on the lines above it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ForgetLine {
    pub(super) forget: Vec<Arc<str>>,
    /// When the records were forgotten: RFC 3339, UTC.
    pub(super) time: Timestamp,
}

/// The beginning of a [`ForgetLine`], which no record starts with.
const FORGET_PREFIX: &[u8] = b"{\"forget\":";

/// A line after the header.
pub(super) enum Line {
    Record(Record),
    Forget(ForgetLine),
}

#[derive(Deserialize)]
struct Header {
    format: String,
    version: u32,
}

/// Iterator over the records of a journal file, created by [`FileJournal::read`](super::FileJournal::read).
pub struct Records {
    path: PathBuf,
    reader: BufReader<Box<dyn Read + Send>>,
    /// The 1-based number of the last line read.
    line: usize,
    /// The length in bytes up to the last complete line; 0 if the header is incomplete.
    valid_len: u64,
    is_done: bool,
    is_of_this_version: bool,
    /// The keys with forget lines, each with the number of the last such line: records before it are skipped.
    forgotten: HashMap<Arc<str>, usize>,
}

impl Records {
    /// Reads the header of a file of `length` bytes.
    ///
    /// A file that is empty or contains an incomplete header is a journal without records: a crash may leave one, with
    /// zeros for bytes that were not written.
    pub(super) fn new(path: PathBuf, file: Box<dyn Read + Send>, length: u64) -> Result<Self, JournalError> {
        let mut reader = BufReader::new(file);
        let mut header = Vec::new();
        if let Err(source) = (&mut reader).take(MAX_HEADER).read_until(b'\n', &mut header) {
            return Err(JournalError::Io { path, source });
        }
        let is_complete = header.ends_with(b"\n");
        let zeros = header.iter().rev().take_while(|byte| **byte == 0).count();
        let rest = &header[..header.len() - zeros];
        let is_short = length <= HEADER.len() as u64;
        let is_torn = !is_complete && is_short && [HEADER, HEADER_1].iter().any(|header| header.starts_with(rest));
        if !is_torn {
            check_header(&path, &header)?;
        }
        let valid_len = if is_complete { header.len() as u64 } else { 0 };
        Ok(Self {
            path,
            reader,
            line: 1,
            valid_len,
            is_done: !is_complete,
            is_of_this_version: header == HEADER,
            forgotten: HashMap::new(),
        })
    }

    /// Returns the length in bytes up to the last complete line, once all lines are read.
    pub(super) fn valid_len(&self) -> u64 {
        self.valid_len
    }

    /// Returns whether the file has the header of this version.
    pub(super) fn is_of_this_version(&self) -> bool {
        self.is_of_this_version
    }

    /// Returns the error that the last line read is not a valid record.
    pub(super) fn corrupt(&self, message: String) -> JournalError {
        JournalError::Corrupt { path: self.path.clone(), line: self.line, message }
    }

    /// Reads all lines, and returns the keys of forget lines, each with the number of the last such line.
    ///
    /// Lines after an incomplete one do not count, since opening the journal truncates them.
    pub(super) fn forgotten(mut self) -> HashMap<Arc<str>, usize> {
        let mut found = HashMap::new();
        // The iterator over the records returns the error later.
        while let Some(Ok(line)) = self.next_line() {
            if let Line::Forget(ForgetLine { forget, .. }) = line {
                found.extend(forget.into_iter().map(|key| (key, self.line)));
            }
        }
        found
    }

    /// Skips the records that a later line forgets, as returned by [`forgotten`](Self::forgotten).
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
                self.valid_len += line.len() as u64;
                Ok(Some(parsed))
            }
            Err(error) if !error.is_data() && self.is_torn()? => Ok(None),
            Err(error) => Err(self.corrupt(describe(&error))),
        }
    }

    /// Returns whether a crash may have left the last line read incomplete: no later line was written after a sync of it.
    ///
    /// A line that was written together with the line before it begins with a space. A complete line without the space was
    /// therefore written after all lines before it were synced.
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
                Ok(Line::Record(record)) if self.forgotten.get(&record.key).is_some_and(|line| self.line < *line) => {}
                Ok(Line::Record(record)) => return Some(Ok(record)),
                Ok(Line::Forget(_)) => {}
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

/// Strips the space that marks a line as written together with the line before it.
fn strip_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix(b" ").unwrap_or(line)
}

fn parse(line: &[u8]) -> serde_json::Result<Line> {
    if strip_mark(line).starts_with(FORGET_PREFIX) {
        return serde_json::from_slice(line).map(Line::Forget);
    }
    serde_json::from_slice(line).map(Line::Record)
}

fn check_header(path: &Path, header: &[u8]) -> Result<(), JournalError> {
    let refused = |message| Err(JournalError::Refused { path: path.to_owned(), message });
    match serde_json::from_slice(header) {
        Ok(Header { format, version: 1..=VERSION }) if format == FORMAT => Ok(()),
        Ok(Header { format, version }) if format == FORMAT => refused(format!(
            "unsupported format version {version}; this version of llm-do supports versions up to {VERSION}; resume with \
             the version of llm-do that wrote it, or start a new journal"
        )),
        _ => refused("not an llm-do journal, nothing was written; choose another file".to_owned()),
    }
}

/// Describes the error of a line, without its content.
fn describe(error: &serde_json::Error) -> String {
    let column = error.column();
    if error.is_data() {
        return format!("missing field or wrong type before column {column}");
    }
    format!("invalid JSON at column {column}")
}
