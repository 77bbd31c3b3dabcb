//! What happens in a run, as one stream of events.

mod buffer;
mod callback;
mod channel;
mod detail;
mod json_lines;
mod kind;
mod parts;
mod patience;
mod queue;
mod run_sinks;
#[cfg(feature = "tracing")]
mod spans;
mod terminal;
#[cfg(test)]
mod tests;

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::callback::Callback;
pub use self::channel::{ChannelSink, EventReceiver, event_channel};
pub use self::detail::{
    ApprovalScope, Caller, DecidedBy, Delta, GuardAction, GuardHook, ItemKind, Outcome, RuleSource,
};
pub use self::json_lines::JsonLines;
pub use self::kind::EventKind;
pub use self::parts::{EventPart, FileInfo};
pub(crate) use self::patience::{flush, settle};
pub(crate) use self::queue::{CAPACITY, Queue};
pub(crate) use self::run_sinks::{RunSinks, SinksOfRuns};
#[cfg(feature = "tracing")]
pub use self::spans::TracingSink;
#[cfg(feature = "cli")]
pub(crate) use self::terminal::{BAR, Page, Rows, told};
pub use self::terminal::{Terminal, Verbosity};

/// One thing that happened in a run.
///
/// As JSON, which [`JsonLines`] writes and a server may send, it is one object: its own fields, and those of its
/// [`kind`](Self::kind). What was written is read back equal, but for [files](EventPart) in a model's answer.
///
/// # Examples
///
/// ```
/// use llm_do::event::{Event, EventKind};
///
/// let line = r#"{"run":"0198","call":2,"parent":0,"seq":7,"depth":0,"name":"copy",
///     "time":"2026-07-28T12:00:00Z","kind":"progress","text":"half of it"}"#;
/// let event: Event = serde_json::from_str(line)?;
/// assert_eq!(event.kind, EventKind::Progress { text: "half of it".into() });
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Event {
    /// The run, unique in the world.
    pub run: Arc<str>,
    /// The call that it happened in, unique in the run; the root call is 0.
    pub call: u64,
    /// The call that made this call; none for the root.
    #[serde(default)]
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

#[doc = include_str!("../../docs/event_sink.md")]
#[async_trait]
pub trait EventSink: Debug + Send + Sync {
    /// Takes one event.
    ///
    /// An event is shared by all sinks: to keep it, clone the `Arc`.
    fn emit(&self, event: &Arc<Event>);

    /// Says where [`emit`](Self::emit) is called. Default: on a thread of its own.
    fn delivery(&self) -> Delivery {
        Delivery::Queued
    }

    /// Waits until what was taken is dealt with; a root call that ends waits for it, at most 50 milliseconds.
    ///
    /// Default: it is, once `emit` returns. A sink that sends events in the background, or many at once, says here when
    /// they are sent; put `#[async_trait]` on the implementation then.
    async fn flush(&self) {}

    /// Returns the name of the sink's thread. Default: the type's.
    fn name(&self) -> &'static str {
        std::any::type_name::<Self>()
    }
}

/// Where a sink is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delivery {
    /// On a thread of its own, behind a queue: however long the sink takes, runs go on.
    ///
    /// A sink that panics is not called again.
    #[default]
    Queued,
    /// In the call that the event is about, which goes on once the sink returns.
    ///
    /// For a sink that is quick and never waits, or has to be where things happen. A panic in it is the call's.
    Inline,
}

/// Puts a queue of `capacity` before a sink that is not to be called in place.
pub(crate) fn delivered(sink: Arc<dyn EventSink>, capacity: usize) -> Arc<dyn EventSink> {
    match sink.delivery() {
        Delivery::Inline => sink,
        Delivery::Queued => Arc::new(Queue::new(sink, capacity)),
    }
}
