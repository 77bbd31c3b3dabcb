//! A root call on its way, and what can be known of it meanwhile.

use std::future::IntoFuture;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::Runtime;
use crate::context::CallContext;
use crate::dispatch::Root;
use crate::error::CallError;
use crate::history::{Conversation, History};
use crate::tool::{FromReturn, Tool, ToolReturn, from_result, to_arguments};
use crate::usage::{RunUsage, UsageTree};

/// A root call that is about to be made; `.await` makes it.
///
/// Dropping the future cancels the run. Its [`handle`](Self::handle) tells what was used and said, whatever became of it.
#[must_use = "a call is made by `.await`"]
pub struct Start<T> {
    root: Root,
    handle: RunHandle,
    read: fn(ToolReturn) -> Result<T, CallError>,
    output: PhantomData<fn() -> T>,
}

impl Runtime {
    /// Prepares a root call, to watch it or to go on from what was said before; [`run`](Self::run) makes one at once.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// # use llm_do::prelude::*;
    /// # use llm_do::testing::TestModel;
    /// /// Greet somebody.
    /// #[worker]
    /// async fn greet(input: String) -> String;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let runtime = Runtime::builder().force_model(TestModel::new().text("Hello!")).build()?;
    /// let start = runtime.start(greet { input: "Ann".into() });
    /// let handle = start.handle();
    /// assert_eq!(start.await?, "Hello!");
    /// assert_eq!(handle.usage().model.requests, 1);
    /// assert_eq!(handle.history().messages().len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    #[expect(clippy::needless_pass_by_value, reason = "a call is made once, as it is given to `run`")]
    pub fn start<T>(&self, call: T) -> Start<T::Output>
    where
        T: Tool<Output: FromReturn>,
    {
        let written = self.plane.registry.get(T::NAME).map_or(Ok(()), |tool| tool.refuse_unwritten());
        self.begin(T::NAME, written.and_then(|()| to_arguments(&call)), from_result::<T>)
    }

    /// Prepares a root call by its registered name, with arguments as JSON; [`run_named`](Self::run_named) makes one at
    /// once.
    pub fn start_named(&self, name: &str, arguments: Value) -> Start<Value> {
        self.begin(name, Ok(arguments), |returned| Ok(returned.value))
    }

    fn begin<T>(
        &self,
        name: &str,
        arguments: Result<Value, CallError>,
        read: fn(ToolReturn) -> Result<T, CallError>,
    ) -> Start<T> {
        let cancellation = self.cancellation.child_token();
        let conversation: Arc<Conversation> = Arc::default();
        let user: Arc<OnceLock<CallContext>> = Arc::default();
        let handle = RunHandle {
            user: Arc::clone(&user),
            conversation: Arc::clone(&conversation),
            cancellation: cancellation.clone(),
        };
        let root =
            Root { plane: Arc::clone(&self.plane), name: name.to_owned(), arguments, conversation, cancellation, user };
        Start { root, handle, read, output: PhantomData }
    }
}

impl<T> Start<T> {
    /// Gives the result with its files: those that a tool attached, or a worker's model made.
    ///
    /// A result of a [`ToolReturn`] has them anyway; of any other type, this is the way to them.
    pub fn with_files(self) -> Start<ToolReturn> {
        let Self { root, handle, .. } = self;
        Start { root, handle, read: Ok, output: PhantomData }
    }

    /// Goes on from what was said before, if the call is a worker's. Default: from nothing.
    pub fn history(self, history: History) -> Self {
        self.handle.conversation.keep(history.into());
        self
    }

    /// Goes on from a conversation, and leaves in it what was said.
    pub(super) fn conversation(mut self, conversation: Arc<Conversation>) -> Self {
        self.handle.conversation = Arc::clone(&conversation);
        self.root.conversation = conversation;
        self
    }

    /// Returns what can be known of the run while it goes on and afterwards.
    #[must_use]
    pub fn handle(&self) -> RunHandle {
        self.handle.clone()
    }
}

impl<T: 'static> IntoFuture for Start<T> {
    type Output = Result<T, CallError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { root, read, .. } = self;
        Box::pin(async move { read(root.run().await?) })
    }
}

impl<T> std::fmt::Debug for Start<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Start").field("name", &self.root.name).finish_non_exhaustive()
    }
}

/// What can be known of a run while it goes on and afterwards. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct RunHandle {
    user: Arc<OnceLock<CallContext>>,
    conversation: Arc<Conversation>,
    cancellation: CancellationToken,
}

impl RunHandle {
    /// Returns what the run used so far, also if it failed, or was dropped.
    #[must_use]
    pub fn usage(&self) -> RunUsage {
        self.user.get().map(CallContext::usage).unwrap_or_default()
    }

    /// Returns who used it.
    #[must_use]
    pub fn usage_tree(&self) -> UsageTree {
        self.user.get().map(CallContext::usage_tree).unwrap_or_default()
    }

    /// Returns what was said, once the run has ended: of a worker's root call, before and in it. A provider accepts it.
    #[must_use]
    pub fn history(&self) -> History {
        self.conversation.history()
    }

    /// Cancels the run.
    pub fn cancel(&self) {
        self.cancellation.cancel();
    }
}
