//! Conversations of several root calls.

use std::collections::BTreeMap;
use std::future::IntoFuture;
use std::sync::{Arc, Mutex, MutexGuard};

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{RunHandle, Runtime, Start};
use crate::base::error::CallError;
use crate::base::mutex::IgnorePoison;
use crate::base::usage::UsageTree;
use crate::declare::tool::{FromReturn, Tool};
use crate::observe::event::Labels;
use crate::plane::call_stream::CallStream;
use crate::plane::conversation::{Conversation, Threads};
use crate::plane::dispatch::{ChatParts, CreatedWorkers, StoredWorker};
use crate::plane::history::History;
use crate::plane::kept_results::KeptResults;
use crate::plane::mailbox::{RunMessage, SendError};

/// The name of the tree that holds the usage of a chat's root calls.
const CHAT: &str = "chat";

/// A conversation of a person with an application: root calls, each of which continues the previous ones.
///
/// Each worker that is called continues its own history. An entry or a tool remembers by
/// [threads](crate::plane::context::CallContext::thread), which last as long as the chat; the workers that its models created last as
/// long. All other calls start with an empty history. A call that fails or is dropped keeps its messages up to that
/// point.
///
/// A chat is saved and loaded as its [`state`](Self::state). A clone is a fork: it shares the past, and continues
/// separately.
///
/// # Examples
///
/// ```standalone_crate
/// # use llm_do::prelude::*;
/// # use llm_do::testing::TestModel;
/// /// Answer.
/// #[worker]
/// async fn assistant(input: String) -> String;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// # let model = TestModel::new().text("Hello!");
/// let runtime = Runtime::builder().force_model(model).build()?;
/// let mut chat = runtime.chat();
/// chat.send(assistant { input: "I am Ann.".into() }).await?;
/// chat.send(assistant { input: "Who am I?".into() }).await?;
/// let saved = serde_json::to_string(&chat.state())?;
///
/// let resumed = runtime.chat().with_state(serde_json::from_str(&saved)?);
/// assert_eq!(resumed.state().workers["assistant"].messages().len(), 4);
/// assert_eq!(resumed.state().usage.total().model.requests, 2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Chat {
    runtime: Runtime,
    workers: BTreeMap<String, Arc<Conversation>>,
    threads: Arc<Threads>,
    created_workers: Arc<CreatedWorkers>,
    results: Arc<KeptResults>,
    usage: Arc<Mutex<UsageTree>>,
    current: ChatHandle,
}

/// The state of a [`Chat`], to save and load it.
///
/// As JSON, it is an object with these fields; missing fields are empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ChatState {
    /// The history of each root worker, by its registered name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub workers: BTreeMap<String, History>,
    /// The history of each thread, by its name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub threads: BTreeMap<String, History>,
    /// The workers that its models created, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) created_workers: BTreeMap<String, StoredWorker>,
    /// The labels of what the histories were made from, if values are labelled.
    #[serde(skip_serializing_if = "ChatLabels::is_empty")]
    labels: ChatLabels,
    /// The usage of the root calls, as children of a tree named `chat`.
    pub usage: UsageTree,
}

/// The labels of the histories of a chat: without them, all that is not known is untrusted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct ChatLabels {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    workers: BTreeMap<String, Labels>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    threads: BTreeMap<String, Labels>,
}

impl ChatLabels {
    fn is_empty(&self) -> bool {
        self.workers.is_empty() && self.threads.is_empty()
    }
}

impl ChatState {
    /// Returns the state of a new chat.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Runtime {
    /// Starts a conversation.
    #[must_use]
    pub fn chat(&self) -> Chat {
        Chat {
            runtime: self.clone(),
            workers: BTreeMap::new(),
            threads: Arc::default(),
            created_workers: Arc::default(),
            results: Arc::default(),
            usage: Arc::default(),
            current: ChatHandle::default(),
        }
    }
}

impl Chat {
    /// Sets the state of the chat, replacing the current one.
    #[must_use]
    pub fn with_state(self, state: ChatState) -> Self {
        let ChatState { workers, threads, created_workers, labels, usage } = state;
        let worker = |(name, history): (String, History)| {
            let labels = labels.workers.get(&name).copied();
            (name, Arc::new(Conversation::new(history, labels)))
        };
        let workers = workers.into_iter().map(worker).collect();
        let thread = |(name, history): (String, History)| {
            let labels = labels.threads.get(&name).copied();
            (name, history, labels)
        };
        let (threads, usage) = (Arc::new(Threads::new(threads.into_iter().map(thread))), Arc::new(Mutex::new(usage)));
        let created_workers = Arc::new(CreatedWorkers::load(created_workers));
        Self {
            runtime: self.runtime,
            workers,
            threads,
            created_workers,
            results: self.results,
            usage,
            current: self.current,
        }
    }

    /// Makes a root call that continues the chat.
    ///
    /// # Errors
    ///
    /// Returns a [`CallError`] like [`Runtime::run`].
    pub fn send<T>(&mut self, call: T) -> BoxFuture<'_, Result<T::Output, CallError>>
    where
        T: Tool<Output: FromReturn>,
    {
        self.continued(T::NAME, self.runtime.start(call))
    }

    /// Makes a root call that continues the chat, whose result arrives in parts: see [`Runtime::stream`].
    pub fn stream<T>(&mut self, call: T) -> CallStream<'_, T::Output>
    where
        T: Tool<Output: FromReturn>,
    {
        let (start, pieces) = self.runtime.start(call).in_pieces();
        CallStream::new(self.continued(T::NAME, start), pieces)
    }

    /// Makes a root call that continues the chat, by its registered name and with arguments as JSON.
    ///
    /// # Errors
    ///
    /// Returns a [`CallError`] like [`Runtime::run_named`].
    pub fn send_named(&mut self, name: &str, arguments: Value) -> BoxFuture<'_, Result<Value, CallError>> {
        self.continued(name, self.runtime.start_named(name, arguments))
    }

    /// Pins the last message of the user in the conversation of a root worker, by its registered name: it stays when the conversation is
    /// [compacted](crate::session::runtime::RuntimeBuilder::compaction). Returns whether there is such a message.
    ///
    /// The first message of a conversation stays in any case. [`History::pin`] pins other ones, in a [state](Self::state).
    pub fn pin_last(&mut self, worker: &str) -> bool {
        self.workers.get(worker).is_some_and(|conversation| conversation.pin_last())
    }

    /// Returns a handle to send messages to the root call that runs.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// # use llm_do::prelude::*;
    /// # use llm_do::testing::TestModel;
    /// use llm_do::runtime::SendError;
    ///
    /// /// Answer.
    /// #[worker]
    /// async fn assistant(input: String) -> String;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let runtime = Runtime::builder().force_model(TestModel::new().text("Hello!")).build()?;
    /// let mut chat = runtime.chat();
    /// let handle = chat.handle();
    /// let answering = chat.send(assistant { input: "Hello.".into() });
    /// handle.send("In one word.")?;
    /// assert_eq!(answering.await?, "Hello!");
    /// assert_eq!(handle.send("Thank you."), Err(SendError::Ended), "now, `chat.send` is the way");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn handle(&self) -> ChatHandle {
        self.current.clone()
    }

    /// Prepares a root call that continues the chat; once it has ended, [`count`](Self::count) its usage.
    #[doc(hidden)]
    #[cfg(feature = "serve")]
    pub fn begin(&mut self, name: &str, arguments: Value) -> Start<Value> {
        let parts = self.parts(name);
        self.runtime.start_named(name, arguments).continuing(parts)
    }

    /// Adds the usage of a root call.
    #[doc(hidden)]
    #[cfg(feature = "serve")]
    pub fn count(&self, used: UsageTree) {
        count(&self.usage, used);
    }

    fn continued<T: 'static, C>(&mut self, name: &str, start: Start<T, C>) -> BoxFuture<'_, Result<T, CallError>>
    where
        C: 'static,
    {
        let start = start.continuing(self.parts(name));
        let current = self.current.clone();
        *current.lock() = Some(start.handle());
        let counted = CountOnDrop { usage: Arc::clone(&self.usage), run: start.handle(), current };
        Box::pin(async move {
            let _counted = counted;
            start.into_future().await
        })
    }

    /// Returns the parts of the chat that a root call of `name` continues.
    fn parts(&mut self, name: &str) -> ChatParts {
        ChatParts {
            conversation: Arc::clone(self.workers.entry(name.to_owned()).or_default()),
            threads: Arc::clone(&self.threads),
            created_workers: Arc::clone(&self.created_workers),
            is_chat: true,
            results: Arc::clone(&self.results),
        }
    }

    /// Returns the state of the chat.
    #[must_use]
    pub fn state(&self) -> ChatState {
        let workers = self.workers.iter().map(|(name, worker)| (name.clone(), worker.history()));
        let workers: BTreeMap<_, _> = workers.filter(|(_, history)| !history.is_empty()).collect();
        let labelled = self.workers.iter().filter(|(name, _)| workers.contains_key(*name));
        let labelled = labelled.filter_map(|(name, worker)| Some((name.clone(), worker.labels()?))).collect();
        let labels = ChatLabels { workers: labelled, threads: self.threads.labels() };
        let (threads, created_workers) = (self.threads.histories(), self.created_workers.stored());
        ChatState { workers, threads, created_workers, labels, usage: lock(&self.usage).clone() }
    }
}

impl Clone for Chat {
    fn clone(&self) -> Self {
        self.runtime.chat().with_state(self.state())
    }
}

/// A handle to send messages to the root call of a [`Chat`] that runs. Cloning is cheap.
#[derive(Clone, Debug, Default)]
pub struct ChatHandle(Arc<Mutex<Option<RunHandle>>>);

impl ChatHandle {
    /// Sends a message to the root call that runs: see [`RunHandle::send`].
    ///
    /// # Errors
    ///
    /// Returns a [`SendError`] like [`RunHandle::send`]; [`SendError::Ended`] also if no root call runs.
    pub fn send(&self, message: impl Into<RunMessage>) -> Result<(), SendError> {
        self.lock().as_ref().ok_or(SendError::Ended)?.send(message)
    }

    fn lock(&self) -> MutexGuard<'_, Option<RunHandle>> {
        self.0.lock().ignore_poison()
    }
}

/// Adds the usage of a run when it has finished or is dropped.
struct CountOnDrop {
    usage: Arc<Mutex<UsageTree>>,
    run: RunHandle,
    current: ChatHandle,
}

impl Drop for CountOnDrop {
    fn drop(&mut self) {
        *self.current.lock() = None;
        count(&self.usage, self.run.usage_tree());
    }
}

fn count(usage: &Mutex<UsageTree>, used: UsageTree) {
    if !used.is_zero() {
        let mut usage = lock(usage);
        usage.name = CHAT.into();
        usage.add_child(used);
    }
}

fn lock(usage: &Mutex<UsageTree>) -> MutexGuard<'_, UsageTree> {
    usage.lock().ignore_poison()
}
