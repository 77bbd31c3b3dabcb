//! The lines of an untrusted event log, each of a maximum length.

use std::io::{self, BufRead, Read};

/// The maximum length of a line in bytes: 64 MiB, more than any event has.
pub(super) const MAX_LINE: usize = 64 << 20;

/// The next line of a log.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    Line,
    /// The line is longer than the maximum; it may be endless.
    TooLong,
    End,
}

/// Reads the next line in place of the last one.
pub(super) fn next(events: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Next> {
    line.clear();
    let read = events.take(MAX_LINE as u64 + 1).read_until(b'\n', line)?;
    Ok(match read {
        0 => Next::End,
        read if read > MAX_LINE => Next::TooLong,
        _ => Next::Line,
    })
}
