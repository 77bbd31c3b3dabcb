//! The history of a conversation, which outlives the call that it was made in.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use llm_do_providers::{Message, ResponsePart, ToolCall, ToolResult};
use serde::{Deserialize, Serialize};

use crate::base::error::BoxError;
use crate::base::mutex::IgnorePoison;
use crate::plane::context::CallContext;

/// The result that a model sees for a call that never got one.
const UNFINISHED: &str = "not finished: the conversation was interrupted";

/// The messages of a conversation, oldest first, which a chat continues.
///
/// As JSON it is the list of messages. It keeps everything that providers need to get back unchanged: ids, reasoning
/// and its signatures. Loading a history [repairs](Self::repair) it.
///
/// # Examples
///
/// ```
/// use llm_do::model::Message;
/// use llm_do::History;
///
/// let history = History::from(vec![Message::user("Hello!")]);
/// let saved = serde_json::to_string(&history)?;
/// let loaded: History = serde_json::from_str(&saved)?;
/// assert_eq!(loaded, history);
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<Message>", into = "Vec<Message>")]
pub struct History {
    messages: Vec<Message>,
}

impl History {
    /// Returns an empty history.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the messages.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns the messages for changes; call [`repair`](Self::repair) afterwards.
    pub fn messages_mut(&mut self) -> &mut Vec<Message> {
        &mut self.messages
    }

    /// Returns whether there are no messages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Gives each tool call one result, directly after the message with the call, as providers require.
    ///
    /// A call without a result gets one that states that it was not finished. Results without a call, duplicate results
    /// and empty answers are removed. Returns whether something was changed.
    pub fn repair(&mut self) -> bool {
        let mut repaired = Vec::with_capacity(self.messages.len());
        let mut messages = std::mem::take(&mut self.messages).into_iter().peekable();
        let mut is_changed = false;
        while let Some(message) = messages.next() {
            match message {
                Message::Assistant { parts } if parts.is_empty() => is_changed = true,
                // Results that belong to calls are consumed together with the calls.
                Message::Tool { .. } => is_changed = true,
                Message::Assistant { parts } => {
                    let calls: Vec<_> = parts.iter().filter_map(call).cloned().collect();
                    repaired.push(Message::Assistant { parts });
                    let mut given = Vec::new();
                    let mut messages_of_results = 0;
                    while let Some(Message::Tool { results }) =
                        messages.next_if(|next| matches!(next, Message::Tool { .. }))
                    {
                        given.extend(results);
                        messages_of_results += 1;
                    }
                    let before =
                        (given.iter().map(|result| result.call_id.clone()).collect::<Vec<_>>(), messages_of_results);
                    let results = paired(&calls, given);
                    let after = results.iter().map(|result| result.call_id.clone()).collect::<Vec<_>>();
                    is_changed |= before != (after, usize::from(!calls.is_empty()));
                    if !results.is_empty() {
                        repaired.push(Message::Tool { results });
                    }
                }
                other => repaired.push(other),
            }
        }
        self.messages = repaired;
        is_changed
    }
}

impl From<Vec<Message>> for History {
    /// Repairs messages and returns them as a history.
    fn from(messages: Vec<Message>) -> Self {
        let mut history = Self { messages };
        history.repair();
        history
    }
}

impl From<History> for Vec<Message> {
    fn from(history: History) -> Self {
        history.messages
    }
}

/// Changes the history before each request of a worker, for example to remove or summarize old messages.
///
/// The changes are permanent for the conversation. Tool calls and results that are separated are
/// [repaired](History::repair) afterwards.
///
/// # Examples
///
/// A processor that keeps the first message and the last ones:
///
/// ```
/// use llm_do::prelude::*;
/// use llm_do::error::BoxError;
/// use llm_do::history::HistoryProcessor;
/// use llm_do::{History, async_trait};
///
/// #[derive(Debug)]
/// struct Trim(usize);
///
/// #[async_trait]
/// impl HistoryProcessor for Trim {
///     async fn process(&self, history: &mut History, _: &CallContext) -> Result<(), BoxError> {
///         let messages = history.messages_mut();
///         if messages.len() > self.0 {
///             messages.drain(1..messages.len() + 1 - self.0);
///         }
///         Ok(())
///     }
/// }
///
/// let builder = Runtime::builder().history_processor(Trim(20));
/// # let _ = builder;
/// ```
///
/// A processor that lets a model summarize old messages. The question is a call of a worker, so the processor also
/// runs for it; it has only one message then, and nothing to summarize.
///
/// ```standalone_crate
/// use llm_do::prelude::*;
/// use llm_do::error::BoxError;
/// use llm_do::history::HistoryProcessor;
/// use llm_do::model::Message;
/// use llm_do::{History, async_trait, json};
/// # use llm_do::testing::TestModel;
///
/// #[derive(Debug)]
/// struct Summarize(usize);
///
/// #[async_trait]
/// impl HistoryProcessor for Summarize {
///     async fn process(&self, history: &mut History, ctx: &CallContext) -> Result<(), BoxError> {
///         let messages = history.messages_mut();
///         // The last message of the user, and all that follow, are kept.
///         let last = messages.iter().rposition(|message| matches!(message, Message::User { .. })).unwrap_or(0);
///         if last > self.0 {
///             let old = json!(messages[..last]);
///             let summary = ctx.llm_ask(format!("Summarize this: {old}")).await?;
///             messages.splice(..last, [Message::user(format!("Summary so far: {summary}"))]);
///         }
///         Ok(())
///     }
/// }
///
/// /// Answer.
/// #[worker]
/// async fn assistant(input: String) -> String;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// # let model = TestModel::new().text("Aha.");
/// let runtime = Runtime::builder().force_model(model).history_processor(Summarize(3)).build()?;
/// let mut chat = runtime.chat();
/// for input in ["I am Ann.", "I like bees.", "I live in Rome."] {
///     chat.send(assistant { input: input.into() }).await?;
/// }
/// let history = chat.history();
/// assert_eq!(history.messages()[0], Message::user("Summary so far: Aha."));
/// assert_eq!(history.messages().len(), 3);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait HistoryProcessor: Debug + Send + Sync {
    /// Changes the history. `ctx` is the worker's context, for example to let a model summarize.
    ///
    /// # Errors
    ///
    /// An error fails the worker's call.
    async fn process(&self, history: &mut History, ctx: &CallContext) -> Result<(), BoxError>;
}

/// The conversation of a root call: the earlier messages, and those of the call once it finishes.
#[derive(Debug, Default)]
pub(crate) struct Conversation(Mutex<Vec<Message>>);

impl Conversation {
    /// Replaces the messages.
    pub(crate) fn save(&self, messages: Vec<Message>) {
        *self.lock() = messages;
    }

    /// Returns the history, in a form that every provider accepts.
    pub(crate) fn history(&self) -> History {
        self.lock().clone().into()
    }

    /// Removes and returns the history, in a form that every provider accepts.
    pub(crate) fn take(&self) -> History {
        std::mem::take(&mut *self.lock()).into()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Message>> {
        self.0.lock().ignore_poison()
    }
}

fn call(part: &ResponsePart) -> Option<&ToolCall> {
    match part {
        ResponsePart::ToolCall(call) => Some(call),
        _ => None,
    }
}

/// Returns one result for each call, in the order of the calls.
fn paired(calls: &[ToolCall], mut given: Vec<ToolResult>) -> Vec<ToolResult> {
    let mut seen = BTreeSet::new();
    let firsts = calls.iter().filter(|call| seen.insert(call.id.as_str()));
    let result = |call: &ToolCall| match given.iter().position(|result| result.call_id == call.id) {
        Some(index) => given.swap_remove(index),
        None => ToolResult::new(call, UNFINISHED).with_error(true),
    };
    firsts.map(result).collect()
}
