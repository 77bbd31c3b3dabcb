//! Reports calls that are refused.

use super::{Run, yield_unless_cancelled};
use crate::base::error::{CallError, chain};
use crate::declare::tool::ToolReturn;
use crate::observe::event::{Caller, EventKind, EventValue};
use crate::plane::context::{CallContext, GivenArguments};

impl Run {
    /// Refuses a call of an unknown item, or one with invalid arguments.
    pub(super) async fn refuse(
        &self,
        ctx: CallContext,
        error: CallError,
        given: GivenArguments<'_>,
    ) -> Result<ToolReturn, CallError> {
        yield_unless_cancelled(&ctx).await?;
        let arguments = if ctx.is_observed() { self.shown_arguments(&ctx, given) } else { None };
        self.report_refusal(&ctx, error, arguments).await
    }

    /// Reports that a call was refused.
    pub(super) async fn report_refusal(
        &self,
        ctx: &CallContext,
        error: CallError,
        arguments: Option<EventValue>,
    ) -> Result<ToolReturn, CallError> {
        ctx.emit(|| EventKind::CallRefused { by: ctx.frame().by, error: chain(&error), arguments });
        if ctx.frame().by == Caller::User { self.finish(ctx, Err(error)).await } else { Err(error) }
    }

    /// Returns arguments that were not decoded as events show them: without what their types hide.
    fn shown_arguments(&self, ctx: &CallContext, given: GivenArguments<'_>) -> Option<EventValue> {
        let given = given.into_shown()?;
        let tool = self.plane.registry.get(ctx.name());
        Some(match tool {
            Some(tool) => tool.shown(given).into(),
            None => given.into(),
        })
    }
}
