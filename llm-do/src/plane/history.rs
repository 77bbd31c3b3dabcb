//! The messages of a conversation, which outlive the call that they were made in.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use llm_do_providers::{Message, ResponsePart, ToolCall, ToolResult};
use serde::{Deserialize, Serialize};

use crate::base::error::BoxError;
use crate::plane::context::CallContext;

/// What a model is told of a call that never got a result.
const UNFINISHED: &str = "not finished: the conversation was interrupted";

/// The messages of a conversation, oldest first: what a chat goes on from.
///
/// As JSON it is the list of its messages, with everything that a provider wants back as it sent it: ids, thinking and
/// its signatures, byte for byte. Loading one [repairs](Self::repair) it.
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
    /// Returns a conversation without messages.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the messages.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns the messages, to be changed; [`repair`](Self::repair) afterwards.
    pub fn messages_mut(&mut self) -> &mut Vec<Message> {
        &mut self.messages
    }

    /// Returns whether nothing was said yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Gives each tool call one result, right after the message that makes it, since providers refuse anything else.
    ///
    /// A call without a result gets one that says that it was not finished; results without a call, and second ones, go.
    /// An answer without any part goes too. Returns whether something was changed.
    pub fn repair(&mut self) -> bool {
        let mut repaired = Vec::with_capacity(self.messages.len());
        let mut messages = std::mem::take(&mut self.messages).into_iter().peekable();
        let mut is_changed = false;
        while let Some(message) = messages.next() {
            match message {
                Message::Assistant { parts } if parts.is_empty() => is_changed = true,
                // Those that belong to calls are taken with them.
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
    /// Takes messages, and repairs them.
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

/// Changes a conversation before each request of a worker: leaves out what is old, sums it up, takes something away.
///
/// What it leaves is what the conversation is from then on; tool calls and results that it parts are
/// [repaired](History::repair) afterwards.
///
/// # Examples
///
/// One that keeps the first message and the last ones:
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
/// One that has a model sum up what is old. The question is a worker's call of its own, which comes here too: with one message,
/// so that nothing is summed up for it.
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
/// struct SumUp(usize);
///
/// #[async_trait]
/// impl HistoryProcessor for SumUp {
///     async fn process(&self, history: &mut History, ctx: &CallContext) -> Result<(), BoxError> {
///         let messages = history.messages_mut();
///         // What the user said last, and what came of it, stays as it is.
///         let last = messages.iter().rposition(|message| matches!(message, Message::User { .. })).unwrap_or(0);
///         if last > self.0 {
///             let old = json!(messages[..last]);
///             let summary = ctx.llm_ask(format!("Sum this up: {old}")).await?;
///             messages.splice(..last, [Message::user(format!("What was said before: {summary}"))]);
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
/// let runtime = Runtime::builder().force_model(model).history_processor(SumUp(3)).build()?;
/// let mut chat = runtime.chat();
/// for input in ["I am Ann.", "I like bees.", "I live in Rome."] {
///     chat.send(assistant { input: input.into() }).await?;
/// }
/// let history = chat.history();
/// assert_eq!(history.messages()[0], Message::user("What was said before: Aha."));
/// assert_eq!(history.messages().len(), 3);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait HistoryProcessor: Debug + Send + Sync {
    /// Changes what was said so far. `ctx` is the worker's: a summary may ask a model by it.
    ///
    /// # Errors
    ///
    /// An error ends the worker's call.
    async fn process(&self, history: &mut History, ctx: &CallContext) -> Result<(), BoxError>;
}

/// The conversation of a root call: what was said before, and then what was said in it too.
#[derive(Debug, Default)]
pub(crate) struct Conversation(Mutex<Vec<Message>>);

impl Conversation {
    /// Keeps what was said by now.
    pub(crate) fn keep(&self, messages: Vec<Message>) {
        *self.lock() = messages;
    }

    /// Returns what was said, as a provider accepts it.
    pub(crate) fn history(&self) -> History {
        self.lock().clone().into()
    }

    /// Takes what was said, as a provider accepts it.
    pub(crate) fn take(&self) -> History {
        std::mem::take(&mut *self.lock()).into()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Message>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn call(part: &ResponsePart) -> Option<&ToolCall> {
    match part {
        ResponsePart::ToolCall(call) => Some(call),
        _ => None,
    }
}

/// Returns one result for each call, in their order.
fn paired(calls: &[ToolCall], mut given: Vec<ToolResult>) -> Vec<ToolResult> {
    let mut seen = BTreeSet::new();
    let firsts = calls.iter().filter(|call| seen.insert(call.id.as_str()));
    let result = |call: &ToolCall| match given.iter().position(|result| result.call_id == call.id) {
        Some(index) => given.swap_remove(index),
        None => ToolResult::new(call, UNFINISHED).with_error(true),
    };
    firsts.map(result).collect()
}
