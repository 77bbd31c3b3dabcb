//! Reading a journal's file, line by line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::super::{JournalError, Record};

const FORMAT: &str = "llm-do journal";
const VERSION: u32 = 1;
/// The first line of every journal.
pub(super) const HEADER: &[u8] = b"{\"format\":\"llm-do journal\",\"version\":1}\n";
/// How long a header may be, of any version; what is no journal is not read further.
const MAX_HEADER: u64 = 1024;

#[derive(Deserialize)]
struct Header {
    format: String,
    version: u32,
}

/// The records of a journal's file, read one line at a time: [`FileJournal::read`](super::FileJournal::read).
#[derive(Debug)]
pub struct Records {
    path: PathBuf,
    reader: BufReader<File>,
    /// The number of the line that was read last.
    line: usize,
    /// Where the last whole record ends; 0 if not even the header is whole.
    end: u64,
    is_done: bool,
}

impl Records {
    /// Reads the header. A file that is empty, or holds the beginning of a header, is a journal without records.
    pub(super) fn new(path: PathBuf, file: File) -> Result<Self, JournalError> {
        let mut reader = BufReader::new(file);
        let mut header = Vec::new();
        if let Err(source) = (&mut reader).take(MAX_HEADER).read_until(b'\n', &mut header) {
            return Err(JournalError::Io { path, source });
        }
        let is_whole = header.ends_with(b"\n");
        let is_torn = !is_whole && HEADER.starts_with(&header);
        if !is_torn {
            check(&path, &header)?;
        }
        let end = if is_whole { header.len() as u64 } else { 0 };
        Ok(Self { path, reader, line: 1, end, is_done: !is_whole })
    }

    /// Returns where the last whole record ends, once all are read.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Returns the error that the line that was read last is no record.
    pub(super) fn corrupt(&self, message: String) -> JournalError {
        JournalError::Corrupt { path: self.path.clone(), line: self.line, message }
    }

    fn read(&mut self) -> Result<Option<Record>, JournalError> {
        let mut line = Vec::new();
        self.reader.read_until(b'\n', &mut line).map_err(|source| self.io(source))?;
        self.line += 1;
        if !line.ends_with(b"\n") {
            return Ok(None);
        }
        match serde_json::from_slice(&line) {
            Ok(record) => {
                self.end += line.len() as u64;
                Ok(Some(record))
            }
            Err(error) if !error.is_data() && self.is_at_end()? => Ok(None),
            Err(error) => Err(self.corrupt(in_words(&error))),
        }
    }

    fn is_at_end(&mut self) -> Result<bool, JournalError> {
        let rest = self.reader.fill_buf().map(<[u8]>::is_empty);
        rest.map_err(|source| self.io(source))
    }

    fn io(&self, source: io::Error) -> JournalError {
        JournalError::Io { path: self.path.clone(), source }
    }
}

impl Iterator for Records {
    type Item = Result<Record, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let next = self.read().transpose();
        self.is_done = !matches!(next, Some(Ok(_)));
        next
    }
}

fn check(path: &Path, header: &[u8]) -> Result<(), JournalError> {
    let refused = |message| Err(JournalError::Refused { path: path.to_owned(), message });
    match serde_json::from_slice(header) {
        Ok(Header { format, version: VERSION }) if format == FORMAT => Ok(()),
        Ok(Header { format, version }) if format == FORMAT => refused(format!(
            "it has version {version} of the format, and this llm-do knows version {VERSION}; resume it with the llm-do \
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
