//! A channel that passes events to async code.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};

use futures_util::task::AtomicWaker;
use futures_util::{Stream, StreamExt};

use super::buffer::Buffer;
use super::{Delivery, Event, EventSink};
use crate::base::mutex::IgnorePoison;

/// Returns a sink and the receiver of its events, for async code such as a server that forwards them.
///
/// At most `capacity` events are buffered, at least 1. Once the buffer is full, new events are dropped until half of
/// it is free; an [`EventKind::Dropped`](crate::observe::event::EventKind::Dropped) event in their place has their number.
/// Runs never wait for the receiver, and dropping the receiver stops nothing.
///
/// ```
/// use llm_do::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let (sink, mut events) = llm_do::event::event_channel(256);
/// let runtime = Runtime::builder().sink(sink).build()?;
/// drop(runtime);
/// assert!(events.recv().await.is_none(), "the sink is gone");
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

/// The receiver of an [`event_channel`]: a stream, or [`recv`](Self::recv) for one event at a time.
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
    /// Waits for the next event; returns `None` once the sink is dropped and all events are received.
    ///
    /// The sink is dropped after its run if it was given to one run, otherwise with the runtime.
    pub async fn recv(&mut self) -> Option<Arc<Event>> {
        self.next().await
    }

    /// Returns the next event if there is one already.
    pub fn try_recv(&mut self) -> Option<Arc<Event>> {
        self.0.lock().buffer.pop()
    }
}

impl Stream for EventReceiver {
    type Item = Arc<Event>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Arc<Event>>> {
        // Registered before the buffer is read, so that no event in between is missed.
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
        self.open.lock().ignore_poison()
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
        // Frees the events that can no longer be received.
        open.buffer = Buffer::new(1);
    }
}
