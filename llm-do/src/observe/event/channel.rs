//! Events for async code to receive.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_util::task::AtomicWaker;
use futures_util::{Stream, StreamExt};

use super::buffer::Buffer;
use super::{Delivery, Event, EventSink};

/// Returns a sink and what receives its events, for async code: a server that passes them on, say.
///
/// At most `capacity` events wait to be received, at least 1. What comes while as many wait is dropped, until half of
/// them are received; that and how much is told by an [`EventKind::Dropped`](crate::event::EventKind::Dropped) in its place.
/// No run waits for the receiver; dropped, it stops nothing.
///
/// ```
/// use llm_do::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let (sink, mut events) = llm_do::event::event_channel(256);
/// let runtime = Runtime::builder().sink(sink).build()?;
/// drop(runtime);
/// assert!(events.recv().await.is_none(), "nothing ran, and nothing will");
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn event_channel(capacity: usize) -> (ChannelSink, EventReceiver) {
    let open = Open { buffer: Buffer::new(capacity), has_sender: true, has_receiver: true };
    let channel = Arc::new(Channel { open: Mutex::new(open), receiver: AtomicWaker::new() });
    (ChannelSink(Arc::clone(&channel)), EventReceiver(channel))
}

/// The sink of an [`event_channel`].
#[derive(Debug)]
pub struct ChannelSink(Arc<Channel>);

/// Receives the events of an [`event_channel`], as a stream or one by one.
#[derive(Debug)]
pub struct EventReceiver(Arc<Channel>);

#[derive(Debug)]
struct Channel {
    open: Mutex<Open>,
    receiver: AtomicWaker,
}

#[derive(Debug)]
struct Open {
    buffer: Buffer,
    has_sender: bool,
    has_receiver: bool,
}

impl EventReceiver {
    /// Waits for the next event; none once the sink is gone and all is received: after the run that the sink was given to,
    /// or with the runtime.
    pub async fn recv(&mut self) -> Option<Arc<Event>> {
        self.next().await
    }

    /// Returns the next event if one is there.
    pub fn try_recv(&mut self) -> Option<Arc<Event>> {
        self.0.lock().buffer.pop()
    }
}

impl Stream for EventReceiver {
    type Item = Arc<Event>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Arc<Event>>> {
        // Before the look: what comes in between wakes the task.
        self.0.receiver.register(cx.waker());
        let mut open = self.0.lock();
        match open.buffer.pop() {
            None if open.has_sender => Poll::Pending,
            next => Poll::Ready(next),
        }
    }
}

impl EventSink for ChannelSink {
    fn emit(&self, event: &Arc<Event>) {
        let mut open = self.0.lock();
        let is_taken = open.has_receiver && open.buffer.push(event);
        drop(open);
        if is_taken {
            self.0.receiver.wake();
        }
    }

    fn delivery(&self) -> Delivery {
        Delivery::Inline
    }
}

impl Channel {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ChannelSink {
    fn drop(&mut self) {
        self.0.lock().has_sender = false;
        self.0.receiver.wake();
    }
}

impl Drop for EventReceiver {
    fn drop(&mut self) {
        let mut open = self.0.lock();
        open.has_receiver = false;
        // What nobody will receive is not kept.
        open.buffer = Buffer::new(1);
    }
}
