//! Calls that are nested deeper than the stack of their thread allows.
//!
//! The future of a call is polled inside that of its caller. From a certain depth, it is polled on a thread with a
//! large stack, while the thread of the caller waits, so that the order of polls and drops stays the same.

use std::cell::Cell;
use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::{io, thread};

use futures_util::future::BoxFuture;
use tokio::runtime::Handle;

use crate::base::error::CallError;
use crate::base::large_stack::on_large_stack;
use crate::declare::tool::ToolReturn;

/// The maximum number of nested calls of any kind: 100 nested workers with two other calls between each.
pub(super) const MAX_NESTING: u32 = 300;
/// The number of nested calls for which a stack of 2 MiB is sufficient, also in a debug build.
const ON_OWN_STACK: u32 = 12;
/// The stack size of the thread for all deeper calls, in bytes. Only the used part takes memory.
const STACK: usize = 64 * 1024 * 1024;

thread_local! {
    static HAS_LARGE_STACK: Cell<bool> = const { Cell::new(false) };
}

type Calling<'a> = BoxFuture<'a, Result<ToolReturn, CallError>>;

/// Returns whether a call with this nesting is polled on a separate thread.
#[inline]
pub(super) fn is_deep(nesting: u32) -> bool {
    nesting > ON_OWN_STACK
}

/// Returns the future of a call with this nesting, which is polled on a sufficient stack.
#[inline]
pub(super) fn with_stack<'a>(tool: &str, nesting: u32, calling: Calling<'a>) -> Calling<'a> {
    // Checked for each call, since a tool may make its calls in another task.
    if is_deep(nesting) {
        return Box::pin(OnLargeStack { tool: tool.to_owned(), calling: Some(calling) });
    }
    calling
}

/// A call that is polled and dropped on a thread with a large stack.
struct OnLargeStack<'a> {
    tool: String,
    /// `None` once the call has finished.
    calling: Option<Calling<'a>>,
}

impl Future for OnLargeStack<'_> {
    type Output = Result<ToolReturn, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { tool, calling } = &mut *self;
        let Some(future) = calling.as_mut() else { unreachable!("a finished future is not polled") };
        let waker = cx.waker();
        let polled = apart(|| future.as_mut().poll(&mut Context::from_waker(waker)));
        let result = match polled {
            Ok(Ok(Poll::Pending)) => return Poll::Pending,
            Ok(Ok(Poll::Ready(result))) => result,
            Ok(Err(payload)) => resume_unwind(payload),
            Err(error) => {
                let source = format!("cannot start a thread for deeply nested calls: {error}").into();
                return Poll::Ready(Err(CallError::Failed { tool: tool.clone(), source }));
            }
        };
        *calling = None;
        Poll::Ready(result)
    }
}

impl Drop for OnLargeStack<'_> {
    fn drop(&mut self) {
        if let Some(calling) = self.calling.take() {
            // The futures of nested calls are dropped recursively too.
            _ = apart(move || drop(calling));
        }
    }
}

/// Runs `work` on a thread with a large stack, in the tokio runtime of the current thread.
fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<thread::Result<T>> {
    if HAS_LARGE_STACK.get() {
        return Ok(Ok(work()));
    }
    let tokio = Handle::try_current().ok();
    on_large_stack("llm-do-nested", STACK, || {
        HAS_LARGE_STACK.set(true);
        let _entered = tokio.as_ref().map(Handle::enter);
        work()
    })
}
