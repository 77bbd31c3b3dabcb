//! Messages to a run while it runs, and the workers that take them.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use crate::base::mutex::IgnorePoison;

/// The maximum number of messages of a run that no worker has taken yet.
const CAPACITY: usize = 100;

/// A message to an unfinished run: see [`RunHandle::send`](crate::session::runtime::RunHandle::send).
///
/// # Examples
///
/// ```
/// use llm_do::runtime::RunMessage;
///
/// let message = RunMessage::new("Leave the tests as they are.").to("editor").interrupt();
/// assert_eq!(message.text(), "Leave the tests as they are.");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunMessage {
    text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    worker: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    interrupts: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_pinned: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<Arc<str>>,
}

impl RunMessage {
    /// Creates a message to the outermost worker that runs.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), worker: None, interrupts: false, is_pinned: false, id: None }
    }

    /// Addresses the worker with this registered name. Default: the outermost worker that runs.
    ///
    /// If no such worker runs, the message waits for one.
    #[must_use]
    pub fn to(self, worker: impl Into<String>) -> Self {
        Self { worker: Some(worker.into()), ..self }
    }

    /// Ends the worker's request in flight, keeping the text that has arrived; a tool that runs is waited for, and further calls
    /// of the turn are not made. Default: the message waits until the model has answered and the calls of the turn are made.
    #[must_use]
    pub fn interrupt(self) -> Self {
        Self { interrupts: true, ..self }
    }

    /// Pins the message: it stays in the conversation when that becomes too long and its old part is summarized. Default: only the
    /// last message of the user stays.
    #[must_use]
    pub fn pinned(self) -> Self {
        Self { is_pinned: true, ..self }
    }

    /// Sets the worker, whether it interrupts and whether it is pinned, as a client gives them.
    #[doc(hidden)]
    #[must_use]
    pub fn with_options(self, worker: Option<String>, interrupts: bool, is_pinned: bool) -> Self {
        Self { worker, interrupts, is_pinned, ..self }
    }

    /// Sets an id, which its event has. Default: none.
    #[must_use]
    pub fn with_id(self, id: impl Into<Arc<str>>) -> Self {
        Self { id: Some(id.into()), ..self }
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the worker that it is addressed to, if it is to a certain one.
    #[must_use]
    pub fn worker(&self) -> Option<&str> {
        self.worker.as_deref()
    }

    /// Returns whether it interrupts what the worker does.
    #[must_use]
    pub fn interrupts(&self) -> bool {
        self.interrupts
    }

    /// Returns whether it stays in the conversation when that is compacted.
    #[must_use]
    pub fn is_pinned(&self) -> bool {
        self.is_pinned
    }

    /// Returns the id, if it has one.
    #[must_use]
    pub fn id(&self) -> Option<&Arc<str>> {
        self.id.as_ref()
    }
}

impl From<&str> for RunMessage {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for RunMessage {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

/// Why a run does not take a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The run has ended, or has not begun in a chat.
    #[error("the run has ended and takes no more messages; start another run")]
    Ended,
    /// The message has no text.
    #[error("the message is empty; write a text")]
    Empty,
    /// Too many messages wait for a worker.
    #[error("{CAPACITY} messages of the run wait for a worker already; send the message again later")]
    Full,
}

/// The messages to a run that no worker has taken yet, and the workers that run.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Mailbox {
    state: Mutex<State>,
    /// Notified when a message comes, and when a worker begins or ends.
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    is_closed: bool,
    pending: Vec<RunMessage>,
    /// In the order in which they began.
    workers: Vec<RunningWorker>,
}

#[derive(Debug)]
struct RunningWorker {
    call: u64,
    depth: u32,
    name: Arc<str>,
}

impl State {
    /// Returns whether the worker of a call is the one that a message is for. Those of a run that is closed are for none.
    fn is_for(&self, message: &RunMessage, call: u64) -> bool {
        if self.is_closed {
            return false;
        }
        let is_named = |worker: &&RunningWorker| message.worker().is_none_or(|name| *name == *worker.name);
        // Of those at one depth, the first.
        let outermost = self.workers.iter().filter(is_named).min_by_key(|worker| worker.depth);
        outermost.is_some_and(|worker| worker.call == call)
    }

    fn has_interruption(&self, call: u64) -> bool {
        self.pending.iter().any(|message| message.interrupts && self.is_for(message, call))
    }

    fn take(&mut self, call: u64) -> Vec<RunMessage> {
        let (own, others) =
            std::mem::take(&mut self.pending).into_iter().partition(|message| self.is_for(message, call));
        self.pending = others;
        own
    }
}

impl Mailbox {
    /// Adds a message.
    #[doc(hidden)]
    pub fn send(&self, message: RunMessage) -> Result<(), SendError> {
        if message.text.trim().is_empty() {
            return Err(SendError::Empty);
        }
        self.add(message, CAPACITY)
    }

    /// Adds a message, also if many wait.
    #[cfg(feature = "serve")]
    pub(crate) fn deliver(&self, message: RunMessage) -> Result<(), SendError> {
        self.add(message, usize::MAX)
    }

    fn add(&self, message: RunMessage, capacity: usize) -> Result<(), SendError> {
        let mut state = self.lock();
        if state.is_closed {
            return Err(SendError::Ended);
        }
        if state.pending.len() >= capacity {
            return Err(SendError::Full);
        }
        state.pending.push(message);
        drop(state);
        self.changed.notify_waiters();
        Ok(())
    }

    /// Refuses messages from now on.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
    }

    /// Returns the messages that no worker has taken.
    pub(crate) fn pending(&self) -> Vec<RunMessage> {
        self.lock().pending.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().ignore_poison()
    }
}

/// A mailbox that is closed when this is dropped.
#[derive(Debug)]
pub(crate) struct OpenMailbox(pub(crate) Arc<Mailbox>);

impl Drop for OpenMailbox {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// The messages to the worker of one call.
#[derive(Clone, Debug)]
pub(crate) struct Mail {
    mailbox: Arc<Mailbox>,
    call: u64,
}

impl Mail {
    pub(crate) fn new(mailbox: Arc<Mailbox>, call: u64) -> Self {
        Self { mailbox, call }
    }

    /// Lets the worker take messages until the returned guard is dropped.
    pub(crate) fn begin(&self, depth: u32, name: &Arc<str>) -> TakesMessages<'_> {
        let worker = RunningWorker { call: self.call, depth, name: Arc::clone(name) };
        self.mailbox.lock().workers.push(worker);
        self.mailbox.changed.notify_waiters();
        TakesMessages(self)
    }

    /// Removes and returns the messages to the worker.
    pub(crate) fn take(&self) -> Vec<RunMessage> {
        let mut state = self.mailbox.lock();
        if state.pending.is_empty() { Vec::new() } else { state.take(self.call) }
    }

    /// Removes and returns the messages to the worker; if none came, the run takes no more.
    pub(crate) fn take_or_close(&self) -> Vec<RunMessage> {
        let mut state = self.mailbox.lock();
        let messages = state.take(self.call);
        state.is_closed |= messages.is_empty();
        messages
    }

    /// Waits until there is a message to the worker.
    pub(crate) async fn arrived(&self) {
        self.until(|state| state.pending.iter().any(|message| state.is_for(message, self.call))).await;
    }

    /// Returns whether a message to the worker interrupts it.
    pub(crate) fn has_interruption(&self) -> bool {
        self.mailbox.lock().has_interruption(self.call)
    }

    /// Waits until a message interrupts the worker.
    pub(crate) async fn interrupted(&self) {
        self.until(|state| state.has_interruption(self.call)).await;
    }

    async fn until(&self, holds: impl Fn(&State) -> bool) {
        loop {
            let mut changed = pin!(self.mailbox.changed.notified());
            // Registered before the look, so that no message that comes in between is missed.
            changed.as_mut().enable();
            if holds(&self.mailbox.lock()) {
                return;
            }
            changed.await;
        }
    }
}

/// A guard: the worker takes messages until this is dropped.
pub(crate) struct TakesMessages<'a>(&'a Mail);

impl Drop for TakesMessages<'_> {
    fn drop(&mut self) {
        let Mail { mailbox, call } = self.0;
        mailbox.lock().workers.retain(|worker| worker.call != *call);
        mailbox.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(messages: &[RunMessage]) -> Vec<&str> {
        messages.iter().map(RunMessage::text).collect()
    }

    fn mail(mailbox: &Arc<Mailbox>, call: u64) -> Mail {
        Mail::new(Arc::clone(mailbox), call)
    }

    #[test]
    fn a_message_is_for_the_outermost_worker_unless_it_names_another() {
        let mailbox = Arc::new(Mailbox::default());
        let [inner, outer, other] = [1, 2, 3].map(|call| mail(&mailbox, call));
        let _inner = inner.begin(2, &"inner".into());
        let _outer = outer.begin(1, &"outer".into());
        let _other = other.begin(1, &"other".into());
        mailbox.send("first".into()).unwrap();
        mailbox.send(RunMessage::new("second").to("inner")).unwrap();
        mailbox.send(RunMessage::new("third").to("absent")).unwrap();
        assert_eq!(texts(&other.take()), [""; 0]);
        assert_eq!(texts(&outer.take()), ["first"]);
        assert_eq!(texts(&inner.take()), ["second"]);
        assert_eq!(texts(&mailbox.pending()), ["third"], "it waits for its worker");
    }

    #[test]
    fn the_next_worker_takes_what_the_last_one_left() {
        let mailbox = Arc::new(Mailbox::default());
        let [first, second] = [1, 2].map(|call| mail(&mailbox, call));
        let running = first.begin(1, &"first".into());
        let _second = second.begin(1, &"second".into());
        mailbox.send("late".into()).unwrap();
        drop(running);
        assert_eq!(texts(&first.take()), [""; 0]);
        assert_eq!(texts(&second.take()), ["late"]);
    }

    #[test]
    fn a_mailbox_closes_only_if_no_message_came() {
        let mailbox = Arc::new(Mailbox::default());
        let worker = mail(&mailbox, 1);
        let _running = worker.begin(1, &"worker".into());
        mailbox.send("wait".into()).unwrap();
        assert_eq!(texts(&worker.take_or_close()), ["wait"]);
        mailbox.send("wait again".into()).unwrap();
        assert_eq!(texts(&worker.take_or_close()), ["wait again"]);
        assert!(worker.take_or_close().is_empty());
        assert_eq!(mailbox.send("too late".into()), Err(SendError::Ended));
    }

    #[test]
    fn empty_messages_and_too_many_are_refused() {
        let mailbox = Mailbox::default();
        assert_eq!(mailbox.send(" \n".into()), Err(SendError::Empty));
        for _ in 0..CAPACITY {
            mailbox.send("again".into()).unwrap();
        }
        assert_eq!(mailbox.send("again".into()), Err(SendError::Full));
    }
}
