//! Calls in the background: how they begin, and how many run.

use std::borrow::Cow;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Run;
use super::deep::with_stack;
use super::find::{callee, new_frame};
use super::pipeline::{CallResult, decode_and_execute};
use super::report::refuse;
use crate::declare::argument::Given;
use crate::observe::event::Caller;
use crate::plane::background::InBackground;
use crate::plane::context::{CallContext, CallExtras, CallFrame};
use crate::plane::declared::Callee;

/// Prepares a call in the background; returns its context and the call.
///
/// It is announced, since its caller may begin other calls before it is first polled.
pub(super) fn prepare(
    run: Arc<Run>,
    caller: CallContext,
    whom: Callee<'_>,
    arguments: Given,
    number: Option<u32>,
) -> (CallContext, BoxFuture<'static, CallResult>) {
    let by = if number.is_some() { Caller::Model } else { Caller::Code };
    let found = callee(&run, &caller, whom, by).map(Cow::into_owned);
    let frame = new_frame(&run, &caller, whom, found.as_deref().ok(), by);
    let extras = CallExtras { in_background: Some(InBackground::new(number)), ..CallExtras::default() };
    let frame = CallFrame { extras: Box::new(extras).into(), ..frame };
    let nesting = frame.nesting;
    let ctx = caller.into_child(|_| frame);
    let announced = ctx.announce();
    let own = ctx.clone();
    let calling = async move {
        match found {
            Ok(tool) => decode_and_execute(&run, own, Cow::Owned(tool), arguments, announced).await,
            Err(error) => refuse(&run, own, error, arguments.into()).await,
        }
    };
    let calling = with_stack(whom.name(), nesting, calling.boxed());
    (ctx, calling)
}

/// Waits until the call may run, if it is in the background.
///
/// A call that is replayed, in whole or in part, needs no permit: other calls of its caller may wait until it has begun.
pub(super) async fn permit(ctx: &CallContext) -> Option<OwnedSemaphorePermit> {
    let caller = ctx.caller().filter(|_| ctx.frame().in_background().is_some())?;
    let is_replayed = ctx
        .journal()
        .zip(ctx.frame().step.get())
        .is_some_and(|(journal, step)| journal.is_recorded(&step.key) || journal.has_recorded_steps(&step.key));
    if is_replayed {
        return None;
    }
    let new = || Arc::new(Semaphore::new(ctx.max_concurrent_calls().min(Semaphore::MAX_PERMITS)));
    let permits = Arc::clone(caller.frame().extras_or_default().permits.get_or_init(new));
    permits.acquire_owned().await.ok()
}
