//! Numbers events and sends them to the sinks.

use std::sync::Arc;

use super::Run;
use crate::base::mutex::IgnorePoison;
use crate::observe::event::{Caller, Event, EventKind};
use crate::plane::context::{CallContext, Host};

impl Run {
    /// Sends an event to the sinks of the runs that contain this one, and then to those of this one.
    pub(super) fn send(&self, ctx: &CallContext, kind: EventKind) -> Arc<Event> {
        // Locked until all sinks have the event.
        let mut seq = self.seq.lock().ignore_poison();
        let event = match &self.outer {
            Some(outer) => outer.send(ctx, kind),
            None => Arc::new(self.numbered(ctx, kind, &mut seq)),
        };
        self.runtime_sinks().iter().for_each(|sink| sink.emit(&event));
        self.sinks.emit(&event);
        event
    }

    fn numbered(&self, ctx: &CallContext, kind: EventKind, seq: &mut u64) -> Event {
        let frame = ctx.frame();
        let event = Event {
            run: Arc::clone(&self.id),
            call: frame.call,
            parent: ctx.caller().filter(|_| frame.by != Caller::User).map(|caller| caller.frame().call),
            seq: *seq,
            depth: frame.depth,
            name: Arc::clone(&frame.name),
            time: self.now(),
            kind,
        };
        *seq += 1;
        event
    }
}
