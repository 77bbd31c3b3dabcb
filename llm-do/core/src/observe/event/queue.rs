//! A queue in front of a sink, and the thread that delivers its events.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use super::background::Background;
use super::buffer::Buffer;
use super::{Delivery, Event, EventSink};

/// The default number of events that may wait for a sink.
#[doc(hidden)]
pub const CAPACITY: usize = 4096;

/// Delivers events to a sink on a separate thread.
#[doc(hidden)]
pub struct Queue {
    sink: Arc<dyn EventSink>,
    events: Background<Buffer>,
}

impl Queue {
    pub fn new(sink: Arc<dyn EventSink>, capacity: usize) -> Self {
        let receiver = Arc::clone(&sink);
        let deliver = move |next: &mut Option<_>| next.take().iter().for_each(|event| receiver.emit(event));
        Self { events: Background::new(sink.name(), Buffer::new(capacity), deliver), sink }
    }
}

#[async_trait]
impl EventSink for Queue {
    fn emit(&self, event: &Arc<Event>) {
        self.events.push(event);
    }

    fn delivery(&self) -> Delivery {
        Delivery::Inline
    }

    async fn flush(&self) {
        self.events.empty().await;
        self.sink.flush().await;
    }

    fn is_awaited(&self) -> bool {
        self.sink.is_awaited()
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Queue").field(&self.sink).finish()
    }
}
