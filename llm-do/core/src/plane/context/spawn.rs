//! Calls in the background.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::CallContext;
use crate::base::error::{CallError, chain};
use crate::declare::argument::Given;
use crate::declare::tool::{FromReturn, Tool, ToolReturn, from_result};
use crate::declare::toolset::Declares;
use crate::plane::declared::Callee;

/// A call in the background: see [`CallContext::spawn`]. Await it for the result.
///
/// If it is dropped, the call goes on, and the call that started it waits for it before it returns.
pub struct CallHandle<T> {
    result: oneshot::Receiver<Result<ToolReturn, CallError>>,
    is_taken: bool,
    read: fn(ToolReturn) -> Result<T, CallError>,
    tool: &'static str,
    token: CancellationToken,
    caller: CallContext,
}

impl<S> CallContext<S> {
    /// Starts a call in the background: `let review = ctx.spawn(reviewer { path });`. It runs beside this call, whether or not the
    /// [handle](CallHandle) is awaited.
    ///
    /// Everything else is as for [`call`](Self::call): depth, limits, approvals, guards, events and the journal. Of the calls in the
    /// background of one caller, at most [`max_concurrent_calls`](crate::session::runtime::RuntimeBuilder::max_concurrent_calls) run
    /// at a time.
    ///
    /// Before this call returns its result, it waits for all calls that it started. An error of a call whose handle was dropped does not
    /// fail this one: it is reported as an event. If this call fails, those that still run are cancelled.
    ///
    /// A handle has an error if this call does not run: the context is that of a guard, or the call has ended.
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::prelude::*;
    ///
    /// /// Count the words of a text.
    /// #[tool(effect = read_only)]
    /// async fn word_count(text: String) -> usize {
    ///     text.split_whitespace().count()
    /// }
    ///
    /// /// Counts the words of two texts at the same time.
    /// #[entry(toolsets = [word_count])]
    /// async fn compare_lengths(ctx: &CallContext<compare_lengths>, one: String, other: String) -> Result<bool> {
    ///     let first = ctx.spawn(word_count { text: one });
    ///     let second = ctx.call(word_count { text: other }).await?;
    ///     Ok(first.await? > second)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let runtime = Runtime::builder().build()?;
    /// assert!(runtime.run(compare_lengths { one: "a b c".into(), other: "d e".into() }).await?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn spawn<T>(&self, call: T) -> CallHandle<T::Output>
    where
        T: Tool<Output: FromReturn>,
        S: Declares<T>,
    {
        let (sender, result) = oneshot::channel();
        let caller: CallContext = self.declaring();
        let token = match self.written(call) {
            Ok(value) => caller.spawn_item(T::NAME, Given { value, is_typed: true }, sender),
            Err(error) => {
                _ = sender.send(Err(error));
                None
            }
        };
        let token = token.unwrap_or_default();
        CallHandle { result, is_taken: false, read: from_result::<T>, tool: T::NAME, token, caller }
    }
}

impl CallContext {
    /// Starts a call in the background, which passes its result to `ended`; returns its context, or `None` if this call does not run.
    ///
    /// `number` is its number among those of the model of this call; `None` for a call by code.
    pub(crate) fn start_in_background(
        &self,
        callee: Callee<'_>,
        arguments: Given,
        number: Option<u32>,
        ended: impl FnOnce(Result<ToolReturn, CallError>) + Send + 'static,
    ) -> Option<CallContext> {
        if self.is_for_guard {
            return None;
        }
        let (ctx, calling) = Arc::clone(self.host()).in_background(self.clone(), callee, arguments, number);
        let (token, tool) = (ctx.token().clone(), ctx.name().to_owned());
        let call = async move { ended(unless_cancelled(token, tool, calling).await) };
        self.frame().background.start(Box::pin(call)).then_some(ctx)
    }

    /// Starts a call by code, which sends its result; returns what cancels it, or `None` if this call does not run.
    fn spawn_item(
        &self,
        tool: &'static str,
        arguments: Given,
        sender: oneshot::Sender<Result<ToolReturn, CallError>>,
    ) -> Option<CancellationToken> {
        let caller = self.clone();
        let ended = move |result| {
            if let Err(Err(error)) = sender.send(result) {
                caller.report_unawaited(tool, &error);
            }
        };
        let ctx = self.start_in_background(Callee::Item(tool), arguments, None, ended)?;
        Some(ctx.token().clone())
    }

    /// Reports the error of a call that nothing awaits.
    fn report_unawaited(&self, tool: &str, error: &CallError) {
        if !error.is_cancelled() {
            let error = chain(error);
            self.progress(format!("the call of `{tool}` in the background failed, and nothing awaited it: {error}"));
        }
    }
}

/// Waits for a call, which is dropped once its token is cancelled; it is polled first, so that it notices this itself.
async fn unless_cancelled(
    token: CancellationToken,
    tool: String,
    calling: impl Future<Output = Result<ToolReturn, CallError>>,
) -> Result<ToolReturn, CallError> {
    if token.is_cancelled() {
        return Err(CallError::Cancelled { tool });
    }
    tokio::select! {
        biased;
        result = calling => result,
        () = token.cancelled() => Err(CallError::Cancelled { tool }),
    }
}

impl<T> CallHandle<T> {
    /// Cancels the call, unless it has finished; it is then a [`CallError::Cancelled`].
    ///
    /// In a resumed run, a call that was cancelled may run again until it is cancelled again.
    pub fn cancel(&self) {
        self.token.cancel();
    }
}

impl<T> Future for CallHandle<T> {
    type Output = Result<T, CallError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let result = ready!(Pin::new(&mut this.result).poll(cx));
        this.is_taken = true;
        Poll::Ready(match result {
            Ok(returned) => returned.and_then(this.read),
            // The call that started it does not run.
            Err(_) => Err(CallError::Cancelled { tool: this.tool.to_owned() }),
        })
    }
}

impl<T> Drop for CallHandle<T> {
    fn drop(&mut self) {
        if !self.is_taken
            && let Ok(Err(error)) = self.result.try_recv()
        {
            self.caller.report_unawaited(self.tool, &error);
        }
    }
}

impl<T> fmt::Debug for CallHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallHandle").field("tool", &self.tool).finish_non_exhaustive()
    }
}
