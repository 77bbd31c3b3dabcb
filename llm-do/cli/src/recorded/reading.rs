//! How far journals are read, on standard error.

use std::cell::Cell;
use std::io::{self, IsTerminal, Write};

use indicatif::ProgressBar;

/// After so many records, the status line changes.
const SHOWN: u64 = 10_000;
/// After so many records, a line is written where there is no terminal.
const WRITTEN: u64 = 1_000_000;

/// The records that were read so far. The status line disappears when it is dropped.
pub(super) struct Reading {
    bar: ProgressBar,
    is_terminal: bool,
    runs: Cell<u64>,
    records: Cell<u64>,
}

impl Reading {
    pub(super) fn new() -> Self {
        let is_terminal = io::stderr().is_terminal();
        Self { bar: ProgressBar::new_spinner(), is_terminal, runs: Cell::new(0), records: Cell::new(0) }
    }

    /// Counts a run, or a file.
    pub(super) fn begin(&self) {
        self.runs.set(self.runs.get() + 1);
    }

    /// Counts a record.
    pub(super) fn count(&self) {
        let records = self.records.get() + 1;
        self.records.set(records);
        if self.is_terminal && records.is_multiple_of(SHOWN) {
            self.bar.set_message(self.text());
            self.bar.tick();
        } else if !self.is_terminal && records.is_multiple_of(WRITTEN) {
            // Ignored: standard error may be closed.
            let _ = writeln!(io::stderr(), "{}", self.text());
        }
    }

    fn text(&self) -> String {
        format!("read {} records in {} runs and files", self.records.get(), self.runs.get())
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        if self.is_terminal && self.records.get() >= SHOWN {
            self.bar.finish_and_clear();
        }
    }
}
