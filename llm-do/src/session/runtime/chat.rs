//! A conversation of several root calls.

use std::future::IntoFuture;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::Runtime;
use crate::base::error::CallError;
use crate::declare::tool::{FromReturn, TakesHistory, Tool};
use crate::plane::history::{Conversation, History};

/// A conversation: root calls of workers, each of which goes on from what was said in those before it.
///
/// Only the root call takes part: calls that it makes begin with nothing said, as always. A tool or an entry has no
/// conversation, so sending one does not compile. A call that fails or is dropped leaves what was said until then.
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
/// runtime.chat().send(hello {}).await?; // an entry would remember nothing of what was said
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
    /// Begins a conversation.
    #[must_use]
    pub fn chat(&self) -> Chat {
        Chat { runtime: self.clone(), conversation: Arc::default() }
    }
}

impl Chat {
    /// Goes on from what was said before, in place of what was said so far.
    #[must_use]
    pub fn with_history(self, history: History) -> Self {
        self.conversation.keep(history.into());
        self
    }

    /// Makes a root call of a worker that goes on from what was said.
    ///
    /// # Errors
    ///
    /// Returns a [`CallError`] as [`Runtime::run`] does.
    pub fn send<T>(&mut self, call: T) -> BoxFuture<'_, Result<T::Output, CallError>>
    where
        T: Tool<Output: FromReturn> + TakesHistory,
    {
        self.runtime.start(call).conversation(Arc::clone(&self.conversation)).into_future()
    }

    /// Returns what was said, as a provider accepts it.
    #[must_use]
    pub fn history(&self) -> History {
        self.conversation.history()
    }
}
