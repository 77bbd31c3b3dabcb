//! The events of a run, and the sinks that receive them.

mod background;
mod buffer;
mod callback;
mod channel;
mod content;
mod detail;
mod effects;
mod flush;
mod json_lines;
mod kind;
mod label;
mod origin;
mod parts;
mod planned;
mod queue;
mod run_sinks;
#[cfg(feature = "tracing")]
mod spans;
mod terminal;
#[cfg(test)]
mod tests;
mod value;

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::callback::Callback;
pub use self::channel::{ChannelSink, EventReceiver, event_channel};
pub use self::content::{ByDigest, ContentFile, ContentMessage, ContentResult, RequestContent};
pub(crate) use self::content::{SchemaDigests, SentRequest, ShownContent};
pub use self::detail::{
    ApprovalScope, Caller, CodeAnswer, DecidedBy, Delta, FlowReason, GuardAction, GuardHook, ItemKind, Outcome,
    RuleSource,
};
pub use self::effects::EffectLog;
pub use self::effects::EffectSink;
pub use self::effects::MadeEffect;
pub(crate) use self::flush::flush;
pub use self::flush::flush_with_timeout;
pub use self::json_lines::JsonLines;
pub use self::kind::EventKind;
pub use self::label::{Label, Labels};
pub use self::origin::{ArgumentOrigin, ResultOrigin, ValueOrigin};
pub use self::parts::{EventPart, FileInfo};
pub use self::planned::{PlannedApproval, PlannedKind};
pub use self::queue::{CAPACITY, Queue};
pub(crate) use self::run_sinks::{ActiveRunSinks, RunSinks};
#[cfg(feature = "tracing")]
pub use self::spans::TracingSink;
pub use self::terminal::{Answers, BAR, Rows, TerminalWriter, with_value};
pub use self::terminal::{Terminal, Verbosity};
pub use self::value::EventValue;
pub use crate::base::mend::Mend;

/// One thing that happened in a run.
///
/// As JSON, which [`JsonLines`] writes and a server may send, an event is one object: its own fields and those of its
/// [`kind`](Self::kind). Reading it back gives an equal event, except for [files](EventPart) in a model's answer.
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
    /// The id of the run, globally unique.
    pub run: Arc<str>,
    /// The id of the call that the event belongs to, unique in the run; the root call is 0.
    pub call: u64,
    /// The call that made this call; `None` for the root call.
    #[serde(default)]
    pub parent: Option<u64>,
    /// The 0-based sequence number of the event in its run.
    pub seq: u64,
    /// How many workers the call is nested in: an entry runs at depth 0, its workers at 1.
    pub depth: u32,
    /// The registered name of the called tool, worker or entry.
    pub name: Arc<str>,
    /// When it happened, in UTC; in JSON as RFC 3339.
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
    /// Receives one event.
    ///
    /// All sinks share the event: clone the `Arc` to keep it.
    fn emit(&self, event: &Arc<Event>);

    /// Returns where [`emit`](Self::emit) is called. Default: on a thread of its own.
    fn delivery(&self) -> Delivery {
        Delivery::Queued
    }

    /// Waits until all events received so far are processed. A root call that finishes waits for it for at most 50
    /// milliseconds, if the sink [is awaited](Self::is_awaited).
    ///
    /// Default: returns immediately, for sinks that finish their work in `emit`. A sink that sends events in the
    /// background or in batches waits here until they are sent; its implementation needs `#[async_trait]`.
    async fn flush(&self) {}

    /// Returns whether a root call that finishes waits for [`flush`](Self::flush). Default: yes.
    ///
    /// Return false for a sink whose output is read later, such as a log.
    fn is_awaited(&self) -> bool {
        true
    }

    /// Returns the name of the sink's thread. Default: the name of the type.
    fn name(&self) -> &'static str {
        std::any::type_name::<Self>()
    }
}

/// Where a sink's [`emit`](EventSink::emit) is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delivery {
    /// On a thread of its own, behind a queue: a slow sink does not slow down runs.
    ///
    /// A sink that panics is not called again.
    #[default]
    Queued,
    /// In the call that the event belongs to, which continues once the sink returns.
    ///
    /// For sinks that are quick and never block, or that need the call's context. A panic in the sink is a panic in
    /// the call.
    Inline,
}

/// Puts a queue of `capacity` events in front of a sink, unless it is to be called inline.
pub(crate) fn delivered(sink: Arc<dyn EventSink>, capacity: usize) -> Arc<dyn EventSink> {
    match sink.delivery() {
        Delivery::Inline => sink,
        Delivery::Queued => Arc::new(Queue::new(sink, capacity)),
    }
}
