//! Builds the request about a call for the approver.

use std::sync::Arc;

use serde_json::Value;

use super::super::Run;
use super::approval_step;
use crate::base::error::Fault;
use crate::plane::approval::ApprovalRequest;
use crate::plane::context::{CallContext, Variant};
use crate::plane::registry::{Prepared, Registered};

impl Run {
    /// Returns the request for the approval of a call.
    pub(in crate::plane::dispatch) fn request(
        &self,
        ctx: &CallContext,
        tool: &Registered,
        prepared: &Prepared,
    ) -> Result<ApprovalRequest, Fault> {
        let mut request = ApprovalRequest::new(Arc::clone(&tool.name), Value::Null);
        request.set_arguments(prepared.shown()?);
        request.description = Arc::clone(&tool.description);
        request.effect = tool.effect();
        request.template = tool.summary().cloned();
        request.variant = tool.variant().cloned().or_else(|| self.foreign(tool));
        request.has_begun = has_begun(ctx);
        set_caller(ctx, &mut request);
        // What would run, where a type writes its value differently.
        let arguments = request.given.as_ref().unwrap_or(&request.arguments);
        request.origins = ctx.origins(arguments, tool.parameters(), self.id_toolsets(tool));
        Ok(request)
    }

    /// Distinguishes an item of a nested run from an item with the same name in the outer run, since both runs share
    /// approvals.
    fn foreign(&self, tool: &Registered) -> Option<Variant> {
        self.outer.as_ref()?;
        let namesake = self.outermost().plane.registry.get(tool.name());
        let is_same = namesake.is_some_and(|other| other.location() == tool.location());
        (!is_same).then(|| Variant::new(tool.location()))
    }
}

/// Returns whether steps of the call were recorded before the run was resumed.
fn has_begun(ctx: &CallContext) -> bool {
    let step = ctx.frame().step.get();
    step.is_some_and(|step| ctx.journal().is_some_and(|journal| journal.has_recorded_steps(&step.key)))
}

/// Returns the key of the answer about a call; `None` without a journal. `round` is the 0-based number of the request.
pub(in crate::plane::dispatch) fn approval_key(ctx: &CallContext, round: u32) -> Option<Arc<str>> {
    ctx.frame().step.get().map(|step| approval_step(step, round).key)
}

/// Sets the ids of the call of `ctx`, its callers and its run.
pub(in crate::plane::dispatch) fn set_caller(ctx: &CallContext, request: &mut ApprovalRequest) {
    request.caller = ctx.caller().map(|caller| Arc::clone(&caller.frame().name)).unwrap_or_default();
    // The last frame is the user's, which is left out.
    let mut callers: Vec<_> = ctx.frames().skip(1).collect();
    callers.pop();
    callers.reverse();
    request.path = callers.iter().map(|frame| Arc::clone(&frame.name)).collect();
    request.path_ids = callers.iter().map(|frame| frame.call).collect();
    request.path_variants = callers.iter().map(|frame| frame.variant.clone()).collect();
    request.run = ctx.run_id().into();
    request.call = ctx.frame().call;
    request.parent = request.path_ids.last().copied();
}
