//! What happens in a run, as one stream of events.

mod json_lines;
mod kind;
mod terminal;

use std::fmt::Debug;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

pub use self::json_lines::JsonLines;
pub use self::kind::{Caller, Delta, EventKind, Judge, Kind, Outcome, RuleSource};
#[cfg(feature = "cli")]
pub(crate) use self::terminal::printable;
pub use self::terminal::{Terminal, Verbosity};

/// One thing that happened in a run.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Event {
    /// The run, unique in the world.
    pub run: Arc<str>,
    /// The call that it happened in, unique in the run; the root call is 0.
    pub call: u64,
    /// The call that made this call; none for the root.
    pub parent: Option<u64>,
    /// The place of the event in its run, from 0.
    pub seq: u64,
    /// How many workers deep the call is: an entry runs at 0, its workers at 1.
    pub depth: u32,
    /// The registered name of the tool, worker or entry that is called.
    pub name: Arc<str>,
    /// When it happened: RFC 3339, UTC.
    #[serde(serialize_with = "rfc_3339")]
    pub time: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

fn rfc_3339<S: serde::Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(time)
}

/// Takes the events of runs, in order.
///
/// Called from the task that makes the event, so it must be quick.
pub trait EventSink: Debug + Send + Sync {
    /// Takes one event.
    fn emit(&self, event: &Event);
}
