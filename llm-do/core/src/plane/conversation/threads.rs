//! The threads of a run or a chat: conversations with names, each open in one call at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use serde::{Deserialize, Serialize};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::{Change, Conversation};
use crate::base::error::CallError;
use crate::base::mutex::IgnorePoison;
use crate::observe::event::Labels;
use crate::plane::history::History;

/// The threads of a run, or of the runs of a chat.
#[derive(Debug, Default)]
pub(crate) struct Threads(Mutex<KnownThreads>);

#[derive(Debug, Default)]
struct KnownThreads {
    by_name: BTreeMap<Arc<str>, Arc<NamedThread>>,
    /// The calls that wait for a thread, by their numbers.
    waiting: BTreeMap<u64, Waiting>,
    waits: u64,
}

/// A call that waits for a thread.
#[derive(Debug)]
struct Waiting {
    /// The threads that are open in the calls above it.
    held: BTreeSet<Arc<str>>,
    wanted: Arc<str>,
}

/// A conversation with a name.
#[derive(Debug)]
pub(crate) struct NamedThread {
    name: Arc<str>,
    conversation: Arc<Conversation>,
    /// One permit, for the call in which the thread is open.
    turn: Semaphore,
}

/// The change of a thread by a call, as the call's record stores it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ThreadChange {
    thread: String,
    #[serde(flatten)]
    change: Change,
}

impl Threads {
    /// Returns threads with these histories, and their labels, if they are known.
    pub(crate) fn new(histories: impl IntoIterator<Item = (String, History, Option<Labels>)>) -> Self {
        let thread = |(name, history, labels): (String, History, Option<Labels>)| {
            let name = Arc::<str>::from(name);
            (Arc::clone(&name), Arc::new(NamedThread::new(name, history, labels)))
        };
        let by_name = histories.into_iter().map(thread).collect();
        Self(Mutex::new(KnownThreads { by_name, ..KnownThreads::default() }))
    }

    /// Returns the history of each thread that has messages.
    pub(crate) fn histories(&self) -> BTreeMap<String, History> {
        let known = self.lock();
        let histories = known.by_name.iter().map(|(name, thread)| (name.to_string(), thread.history()));
        histories.filter(|(_, history)| !history.is_empty()).collect()
    }

    /// Returns the labels of each thread that has messages, if they are known.
    pub(crate) fn labels(&self) -> BTreeMap<String, Labels> {
        let known = self.lock();
        let used = known.by_name.iter().filter(|(_, thread)| thread.messages() > 0);
        used.filter_map(|(name, thread)| Some((name.to_string(), thread.conversation.labels()?))).collect()
    }

    /// Returns the thread with this name.
    pub(crate) fn named(&self, name: &str) -> Arc<NamedThread> {
        let mut known = self.lock();
        if let Some(thread) = known.by_name.get(name) {
            return Arc::clone(thread);
        }
        let name = Arc::<str>::from(name);
        let thread = Arc::new(NamedThread::new(Arc::clone(&name), History::new(), None));
        known.by_name.insert(name, Arc::clone(&thread));
        thread
    }

    /// Waits until no other call has the thread open; it is then open until the permit is dropped.
    ///
    /// `held` are the threads that are open in the calls above.
    ///
    /// # Errors
    ///
    /// Returns an error immediately if the thread cannot be closed before this call has finished.
    pub(crate) async fn open<'t>(
        &self,
        thread: &'t NamedThread,
        held: BTreeSet<Arc<str>>,
        tool: &str,
    ) -> Result<SemaphorePermit<'t>, CallError> {
        let acquire = {
            let mut known = self.lock();
            if known.is_cycle(&thread.name, &held) {
                return Err(CallError::ThreadOpen { tool: tool.to_owned(), thread: thread.name.to_string() });
            }
            match thread.turn.try_acquire() {
                Ok(permit) => return Ok(permit),
                Err(_) => self.waiting(&mut known, Waiting { held, wanted: Arc::clone(&thread.name) }),
            }
        };
        let acquired = thread.turn.acquire().await;
        drop(acquire);
        let Ok(permit) = acquired else { unreachable!("the semaphore is never closed") };
        Ok(permit)
    }

    fn waiting(&self, known: &mut KnownThreads, call: Waiting) -> StopWaiting<'_> {
        known.waits += 1;
        known.waiting.insert(known.waits, call);
        StopWaiting { threads: self, wait: known.waits }
    }

    /// Applies the recorded changes of a call to threads.
    ///
    /// # Errors
    ///
    /// Returns an error if a thread has fewer messages than it had when the call was recorded.
    pub(crate) fn restore(&self, recorded: &ThreadChange) -> Result<(), String> {
        self.named(&recorded.thread).conversation.restore(&recorded.change).map_err(|found| {
            let (thread, kept) = (&recorded.thread, recorded.change.kept);
            format!("the thread `{thread}` has {found} messages, but had {kept} or more when this call was recorded")
        })
    }

    fn lock(&self) -> MutexGuard<'_, KnownThreads> {
        self.0.lock().ignore_poison()
    }
}

impl KnownThreads {
    /// Returns whether the call in which `wanted` is open waits for one of `held`, directly or through further calls.
    fn is_cycle(&self, wanted: &Arc<str>, held: &BTreeSet<Arc<str>>) -> bool {
        let (mut seen, mut next) = (BTreeSet::new(), vec![wanted]);
        while let Some(thread) = next.pop() {
            if held.contains(thread) {
                return true;
            }
            if seen.insert(thread) {
                let waiting = self.waiting.values().filter(|call| call.held.contains(thread));
                next.extend(waiting.map(|call| &call.wanted));
            }
        }
        false
    }
}

/// Removes a waiting call when dropped.
struct StopWaiting<'t> {
    threads: &'t Threads,
    wait: u64,
}

impl Drop for StopWaiting<'_> {
    fn drop(&mut self) {
        self.threads.lock().waiting.remove(&self.wait);
    }
}

impl NamedThread {
    fn new(name: Arc<str>, history: History, labels: Option<Labels>) -> Self {
        Self { name, conversation: Arc::new(Conversation::new(history, labels)), turn: Semaphore::new(1) }
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub(crate) fn conversation(&self) -> &Arc<Conversation> {
        &self.conversation
    }

    pub(crate) fn history(&self) -> History {
        self.conversation.history()
    }

    /// Begins a call in the thread, without a change so far.
    pub(crate) fn begin(&self) {
        self.conversation.begin();
    }

    /// Returns the number of messages.
    pub(crate) fn messages(&self) -> usize {
        self.conversation.messages()
    }

    /// Returns the change by the last call in the thread.
    pub(crate) fn change(&self) -> ThreadChange {
        ThreadChange { thread: self.name.to_string(), change: self.conversation.change() }
    }

    /// Returns a copy; calls in the copy do not change this thread.
    pub(crate) fn copied(&self) -> Self {
        Self::new(Arc::clone(&self.name), self.history(), self.conversation.labels())
    }
}
