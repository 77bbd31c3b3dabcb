//! Lines that wait to be written.

use std::sync::Arc;
use std::time::Duration;

use super::line::LineWriter;
use crate::observe::event::background::Pending;
use crate::observe::event::buffer::Gap;
use crate::observe::event::{Event, EventKind};

/// The maximum number of events that wait to be written: more than for other sinks, since a log should be complete.
const CAPACITY: u64 = 65_536;
/// The maximum memory in bytes that is reused for a later batch.
const KEPT: usize = 1 << 20;

/// Events as lines, at most [`CAPACITY`] of them.
///
/// An event is formatted when it arrives, since its line takes less memory than the event.
#[derive(Default)]
pub(super) struct Lines {
    batch: Batch,
    count: u64,
    gap: Option<Gap>,
    accepted: u64,
    writer: LineWriter,
}

/// Lines to write together.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) text: String,
    /// Whether a call ends in the batch.
    pub(super) ends_call: bool,
}

impl Lines {
    fn accept(&mut self, event: &Event) {
        let start = self.batch.text.len();
        if self.writer.write(&mut self.batch.text, event).is_err() {
            // Unreachable: every event can be written as JSON.
            self.batch.text.truncate(start);
        }
        self.batch.ends_call |= matches!(
            event.kind,
            EventKind::CallFinished { .. }
                | EventKind::CallRefused { .. }
                | EventKind::CallPlanned { ran: false, .. }
                | EventKind::Usage { .. }
        );
        self.count += 1;
        self.accepted += 1;
    }
}

impl Pending for Lines {
    type Batch = Batch;

    const COLLECTING: Duration = Duration::from_millis(5);

    fn push(&mut self, event: &Arc<Event>) -> bool {
        match &mut self.gap {
            Some(gap) => gap.count += 1,
            None if self.count == CAPACITY => self.gap = Some(Gap { first: Arc::clone(event), count: 1 }),
            None => {
                self.accept(event);
                return true;
            }
        }
        false
    }

    fn take(&mut self, batch: &mut Batch) -> u64 {
        batch.text.clear();
        batch.text.shrink_to(KEPT);
        batch.ends_call = false;
        std::mem::swap(&mut self.batch, batch);
        let count = std::mem::take(&mut self.count);
        if let Some(gap) = self.gap.take() {
            self.accept(&gap.into_event());
        }
        count
    }

    fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn may_collect(&self) -> bool {
        !self.is_half_full()
    }

    fn is_half_full(&self) -> bool {
        self.count >= CAPACITY / 2
    }

    fn end_position(&self) -> u64 {
        self.accepted + u64::from(self.gap.is_some())
    }

    fn clear(&mut self) {
        *self = Self::default();
    }
}
