//! Runs the guards around a call: on its arguments before it, on its result after it.

use std::borrow::Cow;

use serde_json::Value;

use super::Run;
use super::decode::decode_async;
use super::record::journal_step;
use crate::base::error::CallError;
use crate::declare::tool::ToolReturn;
use crate::observe::event::{Caller, GuardHook};
use crate::plane::context::CallContext;
use crate::plane::guard::{GuardedCall, Guards};
use crate::plane::registry::{Prepared, Registered};

impl Run {
    /// Runs the guards on a call, which may change its arguments.
    pub(super) async fn before_call(
        &self,
        guards: &Guards,
        ctx: &CallContext,
        tool: &Registered,
        prepared: &mut Prepared,
    ) -> Result<(), CallError> {
        if ctx.frame().by == Caller::User {
            // The root call needs its step first: the calls of guards are recorded below it. It does not depend on arguments.
            journal_step(ctx, tool, prepared, None)?;
        }
        self.run_guards(guards, ctx, tool, prepared).await.map(drop)
    }

    /// Runs the guards on the arguments of a call; returns whether a guard changed them.
    pub(super) async fn run_guards(
        &self,
        guards: &Guards,
        ctx: &CallContext,
        tool: &Registered,
        prepared: &mut Prepared,
    ) -> Result<bool, CallError> {
        let mut is_changed = false;
        let invalid = |fault| CallError::invalid(tool.name(), fault);
        for guard in guards.iter() {
            let arguments = prepared.arguments().map_err(invalid)?;
            let changed = guard.before_call(ctx, (tool.kind(), tool.effect()), &arguments).await?;
            let Some(changed) = changed else { continue };
            *prepared = decode_async(ctx, tool, changed, true).await.map_err(|error| match error {
                // The guard changed them, so the error names the guard.
                CallError::InvalidArguments { message, .. } => guard.invalid_arguments(ctx, &message),
                stopped => stopped,
            })?;
            guard.report_change(ctx, GuardHook::BeforeCall);
            is_changed = true;
        }
        Ok(is_changed)
    }
}

/// Returns a copy of the arguments for the guards after the call, which consumes the original.
pub(super) fn arguments_for_guards(prepared: &Prepared) -> Value {
    prepared.arguments().map(Cow::into_owned).unwrap_or_default()
}

/// Runs the guards on the result of a call; returns the result for the caller.
pub(super) async fn after_call(
    guards: &Guards,
    ctx: &CallContext,
    tool: &Registered,
    arguments: Value,
    result: Result<ToolReturn, CallError>,
) -> Result<ToolReturn, CallError> {
    let call = GuardedCall::new(ctx, tool.kind(), tool.effect(), Cow::Owned(arguments));
    guards.after_call(&call, result).await
}
