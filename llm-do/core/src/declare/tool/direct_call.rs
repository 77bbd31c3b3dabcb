//! The compiler error for a worker that is called as a function.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The value of a worker that is called as a function. Awaiting it does not compile.
#[doc(hidden)]
#[derive(Debug)]
#[must_use = "a worker cannot be called as a function: write `ctx.call(worker { .. }).await`"]
pub struct DirectCall<W, O>(PhantomData<fn() -> (W, O)>);

#[doc(hidden)]
impl<W, O> DirectCall<W, O> {
    /// Returns the value.
    pub fn of_worker() -> Self {
        Self(PhantomData)
    }
}

/// Not implemented by any type, so that a worker that is called as a function does not compile.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the worker `{Self}` cannot be called as a function, since a model implements it",
    label = "needs the context of a call",
    note = "write `ctx.call({Self} {{ .. }}).await` in a function with a parameter `ctx: &CallContext`",
    note = "without a context, start a run: `runtime.run({Self} {{ .. }}).await`"
)]
pub trait CalledDirectly {}

// `IntoFuture` would be reported as missing: the compiler names a bound only if one implementation is left.
impl<W: CalledDirectly, O> Future for DirectCall<W, O> {
    type Output = O;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<O> {
        Poll::Pending
    }
}
