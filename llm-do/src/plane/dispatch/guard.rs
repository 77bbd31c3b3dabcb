//! What guards make of a call: of its arguments before it, of its result after it.

use std::borrow::Cow;

use serde_json::Value;

use super::Run;
use super::perform::decode_async;
use super::record::journal_step;
use crate::base::error::CallError;
use crate::declare::tool::ToolReturn;
use crate::observe::event::{Caller, GuardHook};
use crate::plane::context::CallContext;
use crate::plane::guard::{GuardedCall, Guards};
use crate::plane::registry::{Prepared, Registered};

impl Run {
    /// Shows a call to the guards; returns it as they leave it.
    pub(super) async fn before_call(
        &self,
        guards: &Guards,
        ctx: &CallContext,
        tool: &Registered,
        mut prepared: Prepared,
    ) -> Result<Prepared, CallError> {
        if ctx.frame().by == Caller::User {
            // The run's own place does not depend on arguments, and what guards do by its context is kept there.
            journal_step(ctx, tool, &prepared, None)?;
        }
        self.show(guards, ctx, tool, &mut prepared).await?;
        Ok(prepared)
    }

    /// Shows the arguments of a call to the guards, who may change them; returns whether one did.
    pub(super) async fn show(
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
                // The guard's fault, and not that of who gave the arguments.
                CallError::InvalidArguments { message, .. } => guard.unfit(ctx, &message),
                stopped => stopped,
            })?;
            guard.changed(ctx, GuardHook::BeforeCall);
            is_changed = true;
        }
        Ok(is_changed)
    }
}

/// Returns the arguments for guards to see once the call has taken them.
pub(super) fn written(prepared: &Prepared) -> Value {
    prepared.arguments().map(Cow::into_owned).unwrap_or_default()
}

/// Shows how a call ended to the guards; returns what its caller gets.
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
