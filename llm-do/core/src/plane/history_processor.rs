//! Changes of a history before a request.

mod compaction;

use std::fmt::Debug;

use async_trait::async_trait;

pub use self::compaction::Compaction;
pub(crate) use self::compaction::{Cut, Estimate, Needed, Ratios};
use crate::base::error::BoxError;
use crate::plane::context::CallContext;
use crate::plane::history::History;

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
/// let history = &chat.state().workers["assistant"];
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
