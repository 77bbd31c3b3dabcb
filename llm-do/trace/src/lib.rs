//! What happened in a run: the tree of its calls, as text, as JSON and as a page.

mod asked;
mod attempts;
mod build;
mod call;
mod diff;
mod ending;
mod figures;
mod lines;
mod page;
mod read;
mod repeats;
mod report;
mod text;
mod times;
mod work;

use std::io::{self, BufRead};

use self::call::Call;
pub use self::diff::compare;
#[doc(hidden)]
pub use self::page::BODY;
#[doc(hidden)]
pub use self::page::Page;
pub use self::page::write_page;
pub use self::read::TraceFault;
pub use self::text::{Style, changes, tree};

/// The calls of the runs in a log, as a tree.
#[derive(Debug, Default)]
pub struct Trace {
    /// All calls, in the order in which they began.
    calls: Vec<Call>,
    /// The calls without a caller, which start a run each.
    roots: Vec<usize>,
    /// The number of events that this version does not know.
    skipped: usize,
    /// Whether the last line is incomplete.
    is_torn: bool,
    faults: Vec<TraceFault>,
}

impl Trace {
    /// Reads events, as [`JsonLines`](llm_do_core::observe::event::JsonLines) writes them.
    ///
    /// Events of kinds that this version does not know are skipped, and so is an incomplete last line, which the log of a
    /// killed process may have. Other lines that are not events are [faults](Self::faults).
    ///
    /// # Errors
    ///
    /// Returns an error if reading fails.
    ///
    /// # Examples
    ///
    /// ```
    /// let log = br#"{"run":"a","call":0,"seq":0,"depth":0,"name":"copy","time":"2026-07-28T12:00:00Z",
    /// "kind":"call_started","what":"entry","by":"user","arguments":{}}"#;
    /// let log: Vec<u8> = log.iter().copied().filter(|byte| *byte != b'\n').collect();
    /// let trace = llm_do::trace::Trace::read(&log[..])?;
    /// assert_eq!(trace.to_json()["runs"][0]["name"], "copy");
    /// # Ok::<_, std::io::Error>(())
    /// ```
    pub fn read(events: impl BufRead) -> io::Result<Self> {
        read::read(events)
    }

    /// Returns the lines that are not events, the first 5 of them.
    #[must_use]
    pub fn faults(&self) -> &[TraceFault] {
        &self.faults
    }

    /// Returns the tree as JSON: `runs`, each with the calls below it in `calls`, recursively.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        report::to_json(self)
    }
}
