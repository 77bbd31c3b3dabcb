//! Conversations of several root calls.

use std::future::IntoFuture;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::Runtime;
use crate::base::error::CallError;
use crate::declare::tool::{FromReturn, TakesHistory, Tool};
use crate::plane::history::{Conversation, History};

/// A conversation: root calls of workers, each of which continues the history of those before.
///
/// Only the root call has the history; calls that it makes start with an empty one. Tools and entries have no
/// history, so sending one does not compile. A call that fails or is dropped leaves the history up to that point.
///
/// ```compile_fail,E0277
/// # use llm_do::prelude::*;
/// /// Greets.
/// #[entry]
/// async fn hello(ctx: &CallContext) -> Result<()> {
///     Ok(ctx.progress("Hello!"))
/// }
///
/// # async fn send(runtime: &Runtime) -> Result<()> {
/// runtime.chat().send(hello {}).await?; // an entry has no history
/// # Ok(())
/// # }
/// ```
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
/// let saved = serde_json::to_string(&chat.history())?;
///
/// let resumed = runtime.chat().with_history(serde_json::from_str(&saved)?);
/// assert_eq!(resumed.history().messages().len(), 4);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Chat {
    runtime: Runtime,
    conversation: Arc<Conversation>,
}

impl Runtime {
    /// Starts a conversation.
    #[must_use]
    pub fn chat(&self) -> Chat {
        Chat { runtime: self.clone(), conversation: Arc::default() }
    }
}

impl Chat {
    /// Sets the history to continue, replacing the current one.
    #[must_use]
    pub fn with_history(self, history: History) -> Self {
        self.conversation.save(history.into());
        self
    }

    /// Makes a root call of a worker that continues the conversation.
    ///
    /// # Errors
    ///
    /// Returns a [`CallError`] like [`Runtime::run`].
    pub fn send<T>(&mut self, call: T) -> BoxFuture<'_, Result<T::Output, CallError>>
    where
        T: Tool<Output: FromReturn> + TakesHistory,
    {
        self.runtime.start(call).conversation(Arc::clone(&self.conversation)).into_future()
    }

    /// Returns the history, in a form that every provider accepts.
    #[must_use]
    pub fn history(&self) -> History {
        self.conversation.history()
    }
}
