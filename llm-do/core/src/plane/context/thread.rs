//! Threads: conversations with workers that last longer than one call, each with a name.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;

use super::CallContext;
use crate::base::error::CallError;
use crate::declare::tool::{FromReturn, TakesHistory, Tool, from_result};
use crate::declare::toolset::{Anything, Declares};
use crate::plane::call_stream::{CallStream, Pieces};
use crate::plane::declared::Callee;
use crate::plane::history::History;

/// A conversation with workers that each call continues; [`CallContext::thread`] returns one.
///
/// It has a name, which identifies it in all calls of a run, and in all runs of a [`Chat`](crate::session::runtime::Chat). Without a
/// chat, a thread ends with its run. A [nested run](crate::session::runtime::Runtime::run_under) has separate threads.
///
/// A thread is open in one call at a time; further calls wait for it, in the order in which they were made. Each call
/// adds its messages, even if it fails or is dropped. Several workers may share a thread: each receives all of its
/// messages, with its own instructions and tools.
#[must_use = "a thread does nothing until a worker is called in it"]
pub struct Thread<'c, S = Anything> {
    ctx: &'c CallContext<S>,
    name: String,
}

impl<S> CallContext<S> {
    /// Returns the thread with this name, which calls of workers continue.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// # use llm_do::prelude::*;
    /// # use llm_do::testing::TestModel;
    /// /// Review a text.
    /// #[worker]
    /// async fn reviewer(input: String) -> String;
    ///
    /// /// Has a text reviewed twice.
    /// #[entry(toolsets = [reviewer])]
    /// async fn review(ctx: &CallContext<review>, text: String) -> Result<usize> {
    ///     let reviews = ctx.thread("reviewer");
    ///     reviews.call(reviewer { input: text }).await?;
    ///     reviews.call(reviewer { input: "What was your first point?".into() }).await?;
    ///     Ok(reviews.history().messages().len())
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let runtime = Runtime::builder().force_model(TestModel::new()).build()?;
    /// let mut chat = runtime.chat();
    /// assert_eq!(chat.send(review { text: "..".into() }).await?, 4);
    /// assert_eq!(chat.send(review { text: "..".into() }).await?, 8, "it remembers the first call");
    /// # Ok(())
    /// # }
    /// ```
    pub fn thread(&self, name: impl Into<String>) -> Thread<'_, S> {
        Thread { ctx: self, name: name.into() }
    }
}

impl<S> Thread<'_, S> {
    /// Calls a worker, which continues the thread.
    ///
    /// # Errors
    ///
    /// Returns a [`CallError`] like [`CallContext::call`], and [`CallError::ThreadOpen`] if a call above this one has
    /// the thread open, or waits for this one.
    pub fn call<T>(&self, call: T) -> BoxFuture<'_, Result<T::Output, CallError>>
    where
        T: Tool<Output: FromReturn> + TakesHistory,
        S: Declares<T>,
    {
        self.call_in_pieces(call, None)
    }

    /// Calls a worker, which continues the thread, and whose result arrives in parts: see [`CallContext::stream`].
    pub fn stream<T>(&self, call: T) -> CallStream<'_, T::Output>
    where
        T: Tool<Output: FromReturn> + TakesHistory,
        S: Declares<T>,
    {
        let pieces = Arc::<Pieces>::default();
        CallStream::new(self.call_in_pieces(call, Some(Arc::clone(&pieces))), pieces)
    }

    fn call_in_pieces<T>(&self, call: T, pieces: Option<Arc<Pieces>>) -> BoxFuture<'_, Result<T::Output, CallError>>
    where
        T: Tool<Output: FromReturn>,
    {
        Box::pin(async move {
            let (host, arguments) = (self.ctx.host(), self.ctx.written(call)?);
            let callee = Callee::typed(T::NAME, pieces.as_ref());
            from_result::<T>(host.call_in_thread(self.ctx.declaring(), &self.name, callee, arguments).await?)
        })
    }

    /// Calls a worker by name, with arguments as JSON, as [`CallContext::call_tool`] does.
    ///
    /// # Errors
    ///
    /// Returns a [`CallError`] like [`call`](Self::call), and [`CallError::NoHistory`] for a tool or an entry.
    pub async fn call_tool(&self, worker: &str, arguments: Value) -> Result<Value, CallError> {
        let (host, caller) = (self.ctx.host(), self.ctx.declaring());
        Ok(host.call_in_thread(caller, &self.name, Callee::Shown(worker), arguments).await?.into_value())
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the messages, in a form that every provider accepts; empty while a call has the thread open.
    #[must_use]
    pub fn history(&self) -> History {
        self.ctx.host().threads().named(&self.name).history()
    }
}

impl<S> fmt::Debug for Thread<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("name", &self.name).finish_non_exhaustive()
    }
}
