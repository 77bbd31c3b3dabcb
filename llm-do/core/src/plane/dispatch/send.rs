//! Numbers events and sends them to the sinks.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use llm_do_providers::SettingWarning;

use super::{Plane, Run};
use crate::base::mutex::IgnorePoison;
use crate::observe::event::{Event, EventKind, EventSink, RunSinks, ShownContent};
use crate::plane::context::{CallFrame, Host};

/// The events of a run: their sinks, and the content that they already have.
#[derive(Debug)]
pub(super) struct RunEvents {
    /// Sinks in addition to those of the runtime.
    pub(super) sinks: RunSinks,
    /// Whether a sink receives events; a run has all its sinks from the start.
    pub(super) is_observed: bool,
    /// The content of requests to models that the events already have.
    pub(super) shown_content: ShownContent,
    /// The setting warnings already reported, with the model.
    warned: Mutex<HashSet<(Arc<str>, SettingWarning)>>,
    /// Locked while the sinks receive an event, so that they receive events in order.
    sent: Mutex<SentEvents>,
}

impl RunEvents {
    pub(super) fn new(plane: &Plane, sinks: Vec<Arc<dyn EventSink>>) -> Self {
        Self {
            is_observed: !plane.sinks.is_empty() || !sinks.is_empty(),
            sinks: RunSinks::new(sinks),
            shown_content: ShownContent::new(&plane.schema_digests),
            warned: Mutex::default(),
            sent: Mutex::default(),
        }
    }

    /// Returns whether a setting warning has not been reported before.
    pub(super) fn is_new(&self, model: &Arc<str>, warning: &SettingWarning) -> bool {
        self.warned.lock().ignore_poison().insert((Arc::clone(model), warning.clone()))
    }
}

/// The events that a run has sent.
#[derive(Debug, Default)]
struct SentEvents {
    /// The number of the next event.
    next: u64,
    /// The last event, if no sink kept it; its allocation is reused for the next event.
    spare: Option<Arc<Event>>,
}

impl Run {
    /// Sends an event of a call to the sinks of the runs that contain this one, and then to those of this one.
    pub(super) fn send(&self, call: &CallFrame, parent: Option<u64>, kind: EventKind) {
        // Locked until all sinks have the event.
        let mut sent = self.events.sent.lock().ignore_poison();
        let event = self.event(sent.spare.take(), call, parent, kind);
        let mut event = self.deliver(event, &mut sent);
        sent.spare = Arc::get_mut(&mut event).is_some().then_some(event);
    }

    /// Returns an event, in a reused allocation if possible; it is numbered and dated when it is delivered.
    fn event(&self, spare: Option<Arc<Event>>, call: &CallFrame, parent: Option<u64>, kind: EventKind) -> Arc<Event> {
        let CallFrame { call, depth, name, .. } = call;
        if let Some(mut spare) = spare
            && let Some(event) = Arc::get_mut(&mut spare)
        {
            (event.call, event.parent, event.depth) = (*call, parent, *depth);
            event.name = Arc::clone(name);
            event.kind = kind;
            return spare;
        }
        let (run, name) = (Arc::clone(&self.id), Arc::clone(name));
        Arc::new(Event { run, call: *call, parent, seq: 0, depth: *depth, name, time: Timestamp::UNIX_EPOCH, kind })
    }

    /// Sends an event of a run that this run contains.
    fn pass_on(&self, event: Arc<Event>) -> Arc<Event> {
        self.deliver(event, &mut self.events.sent.lock().ignore_poison())
    }

    fn deliver(&self, event: Arc<Event>, sent: &mut SentEvents) -> Arc<Event> {
        let event = match &self.outer {
            Some(outer) => outer.pass_on(event),
            None => sent.numbered(event, self.now()),
        };
        self.runtime_sinks().iter().for_each(|sink| sink.emit(&event));
        self.events.sinks.emit(&event);
        event
    }
}

impl SentEvents {
    /// Numbers and dates an event that is not shared yet.
    fn numbered(&mut self, mut event: Arc<Event>, now: Timestamp) -> Arc<Event> {
        if let Some(event) = Arc::get_mut(&mut event) {
            (event.seq, event.time) = (self.next, now);
        }
        self.next += 1;
        event
    }
}
