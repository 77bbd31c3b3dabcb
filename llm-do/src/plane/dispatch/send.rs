//! Numbers events and sends them to the sinks.

use std::sync::Arc;

use super::Run;
use crate::base::mutex::IgnorePoison;
use crate::observe::event::Event;
use crate::plane::context::Host;

impl Run {
    /// Numbers and dates an event, and sends it to the sinks of the runs that contain this one, and then to those of this one.
    pub(super) fn send(&self, event: Arc<Event>) -> Arc<Event> {
        // Locked until all sinks have the event.
        let mut seq = self.seq.lock().ignore_poison();
        let event = match &self.outer {
            Some(outer) => outer.send(event),
            None => self.numbered(event, &mut seq),
        };
        self.runtime_sinks().iter().for_each(|sink| sink.emit(&event));
        self.sinks.emit(&event);
        event
    }

    /// Numbers and dates an event that nothing shares yet.
    fn numbered(&self, mut event: Arc<Event>, seq: &mut u64) -> Arc<Event> {
        if let Some(event) = Arc::get_mut(&mut event) {
            (event.seq, event.time) = (*seq, self.now());
        }
        *seq += 1;
        event
    }
}
