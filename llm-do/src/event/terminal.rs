//! Events for a person at a terminal.

use super::{Event, EventSink};

/// How much a [`Terminal`] shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Verbosity {
    /// Only what the user must know.
    #[default]
    Quiet,
    /// Each call and its result, cut to a line.
    Calls,
    /// Also what models write, as they write it.
    Stream,
}

/// Shows events to a person.
#[derive(Debug)]
pub struct Terminal {}

impl EventSink for Terminal {
    fn emit(&self, _event: &Event) {}
}
