//! A bounded buffer of events for a sink, with a count of those that were dropped.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::background::Pending;
use super::{Event, EventKind};

/// Events in order, at most `capacity` of them.
///
/// Once the buffer is full, all new events are dropped until half of it is free. A slow sink then misses one contiguous
/// range of events, reported by one event.
#[derive(Debug)]
pub(super) struct Buffer {
    waiting: VecDeque<Arc<Event>>,
    capacity: usize,
    gap: Option<Gap>,
    accepted: u64,
}

/// The events dropped since the buffer was full.
#[derive(Debug)]
pub(super) struct Gap {
    pub(super) first: Arc<Event>,
    pub(super) count: u64,
}

impl Buffer {
    pub(super) fn new(capacity: usize) -> Self {
        Self { waiting: VecDeque::new(), capacity: capacity.max(1), gap: None, accepted: 0 }
    }

    /// Adds an event, or counts it as dropped; returns whether it was added.
    pub(super) fn push(&mut self, event: &Arc<Event>) -> bool {
        match &mut self.gap {
            Some(gap) => gap.count += 1,
            None if self.waiting.len() == self.capacity => self.gap = Some(Gap { first: Arc::clone(event), count: 1 }),
            None => {
                self.accept(Arc::clone(event));
                return true;
            }
        }
        false
    }

    /// Returns the next event; a [`Dropped`](EventKind::Dropped) event replaces dropped ones.
    pub(super) fn pop(&mut self) -> Option<Arc<Event>> {
        let next = self.waiting.pop_front();
        if self.waiting.len() <= self.capacity / 2
            && let Some(gap) = self.gap.take()
        {
            self.accept(Arc::new(gap.into_event()));
        }
        next
    }

    fn accept(&mut self, event: Arc<Event>) {
        self.waiting.push_back(event);
        self.accepted += 1;
    }
}

impl Pending for Buffer {
    type Batch = Option<Arc<Event>>;

    const COLLECTING: Duration = Duration::from_millis(1);

    fn push(&mut self, event: &Arc<Event>) -> bool {
        self.push(event)
    }

    fn take(&mut self, batch: &mut Option<Arc<Event>>) -> u64 {
        *batch = self.pop();
        batch.is_some().into()
    }

    fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    fn may_collect(&self) -> bool {
        self.waiting.is_empty()
    }

    fn is_half_full(&self) -> bool {
        self.waiting.len() >= self.capacity.div_ceil(2)
    }

    fn end_position(&self) -> u64 {
        self.accepted + u64::from(self.gap.is_some())
    }

    fn clear(&mut self) {
        *self = Self::new(1);
    }
}

impl Gap {
    /// Returns the event that replaces the dropped ones.
    pub(super) fn into_event(self) -> Event {
        let Event { run, call, parent, seq, depth, name, time, .. } = &*self.first;
        Event {
            run: Arc::clone(run),
            call: *call,
            parent: *parent,
            seq: *seq,
            depth: *depth,
            name: Arc::clone(name),
            time: *time,
            kind: EventKind::Dropped { count: self.count },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Buffer, Pending};
    use crate::observe::event::{Event, EventKind};

    fn event(seq: u64) -> Arc<Event> {
        let kind = EventKind::Progress { text: String::new() };
        let (run, name) = ("run".into(), "name".into());
        Arc::new(Event { run, call: 0, parent: None, seq, depth: 0, name, time: jiff::Timestamp::UNIX_EPOCH, kind })
    }

    fn push(buffer: &mut Buffer, seq: u64) {
        buffer.push(&event(seq));
    }

    /// Pops all events; returns the sequence number of each, and the number of dropped events that it reports.
    fn drain(buffer: &mut Buffer) -> Vec<(u64, u64)> {
        let dropped = |event: &Event| match event.kind {
            EventKind::Dropped { count } => count,
            _ => 0,
        };
        std::iter::from_fn(|| buffer.pop()).map(|event| (event.seq, dropped(&event))).collect()
    }

    #[test]
    fn dropped_events_are_counted_in_their_place() {
        let mut buffer = Buffer::new(4);
        (0..7).for_each(|seq| push(&mut buffer, seq));
        assert_eq!(buffer.end_position(), 5);
        assert_eq!(drain(&mut buffer), [(0, 0), (1, 0), (2, 0), (3, 0), (4, 3)]);
        assert!(buffer.push(&event(7)));
        assert_eq!((buffer.end_position(), drain(&mut buffer)), (6, vec![(7, 0)]));
    }

    #[test]
    fn a_full_buffer_accepts_events_once_half_of_it_is_free() {
        let mut buffer = Buffer::new(4);
        (0..5).for_each(|seq| push(&mut buffer, seq));
        assert_eq!(buffer.pop().unwrap().seq, 0);
        assert!(!buffer.push(&event(5)));
        assert_eq!(buffer.pop().unwrap().seq, 1);
        assert!(buffer.push(&event(6)));
        assert_eq!(drain(&mut buffer), [(2, 0), (3, 0), (4, 2), (6, 0)]);
    }

    #[test]
    fn the_least_capacity_is_one() {
        let mut buffer = Buffer::new(0);
        assert!(buffer.push(&event(0)) && !buffer.push(&event(1)));
        assert_eq!(drain(&mut buffer), [(0, 0), (1, 1)]);
    }
}
