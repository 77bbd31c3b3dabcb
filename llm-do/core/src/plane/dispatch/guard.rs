//! Runs the guards around a call: on its arguments before it, on its result after it.

use std::borrow::Cow;

use futures_util::future::BoxFuture;

use super::decode::decode_async;
use super::journal::{OwnEnd, journal_step};
use super::pipeline::{Call, CallResult, Next, Wrapper};
use crate::base::error::CallError;
use crate::observe::event::{Caller, GuardHook};
use crate::plane::context::CallContext;
use crate::plane::guard::{GuardedCall, GuardedItem, Guards};
use crate::plane::registry::{Prepared, Registered};

/// Runs the guards on the result of a call.
pub(super) const WRAPPER: Wrapper = Wrapper { applies: |call| call.guards().is_some(), around };

fn around<'c>(call: &'c mut Call<'_>, prepared: Prepared, next: Next) -> BoxFuture<'c, CallResult> {
    // The arguments are copied, since the tool consumes them.
    let arguments = prepared.arguments().map(|arguments| arguments.value().clone()).unwrap_or_default();
    Box::pin(async move {
        let result = next.run(call, prepared).await;
        let Some(guards) = call.guards() else { return result };
        // Stored before the guards make calls.
        call.own_end = Some(OwnEnd::new(call, &result));
        let guarded = GuardedCall::new(call.ctx, item(&call.tool), Cow::Owned(arguments));
        guards.after_call(&guarded, result).await
    })
}

fn item(tool: &Registered) -> GuardedItem<'_> {
    GuardedItem { kind: tool.kind(), effect: tool.effect(), parameters: tool.parameters() }
}

/// Runs the guards on the arguments of a call, which they may change.
pub(super) async fn check(call: &mut Call<'_>, prepared: &mut Prepared) -> Result<(), CallError> {
    let Some(guards) = call.guards() else { return Ok(()) };
    let ctx = call.ctx;
    call.announced = call.announced.take().or_else(|| ctx.announce());
    if ctx.frame().by == Caller::User {
        // The root call needs its step first, since the calls of guards are recorded below it. The step does not depend
        // on the arguments.
        journal_step(ctx, &call.tool, prepared, None)?;
    }
    Box::pin(run_guards(guards, ctx, &call.tool, prepared)).await.map(drop)
}

/// Runs the guards on the arguments of a call; returns whether a guard changed them.
pub(super) async fn run_guards(
    guards: &Guards,
    ctx: &CallContext,
    tool: &Registered,
    prepared: &mut Prepared,
) -> Result<bool, CallError> {
    let mut is_changed = false;
    let invalid = |fault| CallError::invalid(tool.name(), fault);
    for guard in guards.iter() {
        let arguments = prepared.arguments().map_err(invalid)?.value();
        let changed = guard.before_call(ctx, item(tool), arguments).await?;
        let Some(changed) = changed else { continue };
        *prepared = decode_async(ctx, tool, changed).await.map_err(|error| match error {
            // The guard changed them, so the error names the guard.
            CallError::InvalidArguments { message, .. } => guard.invalid_arguments(ctx, &message),
            stopped => stopped,
        })?;
        guard.report_change(ctx, GuardHook::BeforeCall);
        is_changed = true;
    }
    Ok(is_changed)
}
