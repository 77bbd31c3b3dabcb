//! A call that continues a thread.

use std::sync::Arc;

use serde_json::Value;

use super::Run;
use super::find::{callee, new_frame};
use super::pipeline::{CallResult, decode_and_execute};
use super::report::refuse;
use crate::base::error::CallError;
use crate::observe::event::{Caller, ItemKind};
use crate::plane::context::{CallContext, CallFrame, GivenArguments};
use crate::plane::conversation::{NamedThread, ThreadChange};
use crate::plane::declared::Callee;
use crate::plane::registry::Registered;

/// Calls a worker that continues the thread with this name.
pub(super) async fn continue_thread(
    run: &Run,
    caller: CallContext,
    thread: &str,
    whom: Callee<'_>,
    arguments: Value,
) -> CallResult {
    let found = callee(run, &caller, whom, Caller::Code);
    let tool = found.as_deref().ok().map(AsRef::as_ref);
    let frame = new_frame(run, &caller, whom, tool, Caller::Code);
    let thread = run.chat.threads.named(thread);
    // A shadow must not change the messages for later calls.
    let thread = if frame.is_shadow { Arc::new(thread.copied()) } else { thread };
    let frame = CallFrame { thread: Some(Arc::clone(&thread)), ..frame };
    let ctx = caller.into_child(|_| frame);
    let tool = match found.and_then(|tool| check_is_worker(&tool).map(|()| tool)) {
        Ok(tool) => tool,
        Err(error) => return refuse(run, ctx, error, GivenArguments::Value(arguments)).await,
    };
    // Announced in the order of the calls, before one waits for another.
    let announced = ctx.announce();
    let _open = match open_thread(run, &ctx, &thread).await {
        Ok(open) => open,
        Err(error) => return refuse(run, ctx, error, GivenArguments::Value(arguments)).await,
    };
    decode_and_execute(run, ctx, tool, arguments, announced).await
}

/// Waits until no other call has the thread open, or until the call is stopped.
async fn open_thread<'t>(
    run: &Run,
    ctx: &CallContext,
    thread: &'t NamedThread,
) -> Result<impl Drop + use<'t>, CallError> {
    let above = ctx.frames_of_run().skip(1).filter_map(|frame| frame.thread.as_ref());
    let held = above.map(|thread| Arc::clone(thread.name())).collect();
    let opening = run.chat.threads.open(thread, held, ctx.name());
    let open = tokio::select! {
        biased;
        open = opening => open?,
        error = ctx.stopped() => return Err(error),
    };
    thread.begin();
    Ok(open)
}

/// Applies the recorded changes of a call to threads.
pub(super) fn restore_threads(run: &Run, ctx: &CallContext, recorded: Vec<Arc<ThreadChange>>) -> Result<(), CallError> {
    if recorded.is_empty() {
        return Ok(());
    }
    for change in &recorded {
        let failed = |source| CallError::Journal { tool: ctx.name().to_owned(), source };
        run.chat.threads.restore(change).map_err(|message| failed(message.into()))?;
    }
    let mut changes = ctx.frame().extras_or_default().effects.thread_changes.get_or_default();
    *changes = recorded;
    if ctx.frame().thread.is_some() {
        // The call's own change is the last one.
        changes.pop();
    }
    Ok(())
}

/// Refuses a thread for an item other than a worker, since only workers have conversations.
fn check_is_worker(tool: &Registered) -> Result<(), CallError> {
    match tool.kind() {
        ItemKind::Worker => Ok(()),
        kind => Err(CallError::NoHistory { tool: tool.name().to_owned(), kind: kind.as_str() }),
    }
}

impl CallContext {
    /// Returns the changes of threads by the call and the calls below it; its own change is the last one.
    pub(super) fn thread_changes(&self) -> Vec<Arc<ThreadChange>> {
        let below =
            self.frame().extras().and_then(|extras| extras.effects.thread_changes.get()).map(|changes| changes.clone());
        let own = self.frame().thread.iter().map(|thread| Arc::new(thread.change()));
        below.into_iter().flatten().chain(own).collect()
    }

    /// Adds the changes of threads by a journaled call to its caller, for the record of the caller.
    pub(super) fn pass_on_thread_changes(&self) {
        let caller = self.caller().filter(|caller| Arc::ptr_eq(caller.host(), self.host()));
        let Some(caller) = caller else { return };
        let changes = self.thread_changes();
        if !changes.is_empty() {
            caller.frame().extras_or_default().effects.thread_changes.get_or_default().extend(changes);
        }
    }
}
