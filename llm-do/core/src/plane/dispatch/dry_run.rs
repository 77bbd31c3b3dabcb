//! Dry runs: a call that would change something, or that needs approval, is added to the plan instead of running.

use llm_do_providers::ServerSideTool;
use serde_json::Value;

use super::Run;
use super::approve::{decided, set_caller};
use super::pipeline::{Call, CallResult};
use crate::base::error::CallError;
use crate::declare::tool::{Effect, ToolReturn};
use crate::observe::event::{Caller, ItemKind, PlannedApproval, PlannedKind, RuleSource};
use crate::plane::approval::{AppliedRule, Approval, ApprovalMode, ApprovalRequest, LazyRequest};
use crate::plane::context::{CallContext, CallFrame};
use crate::plane::plan::{DryRun, PlannedCall};
use crate::plane::registry::{Prepared, Registered};

/// The judgment of a dry run about a call that a real run would ask about, or that would change something.
pub(super) enum Judgment {
    /// It runs without the approval that it needs.
    Unasked,
    /// It does not run, and has this result.
    Planned(CallResult),
}

/// Judges a call, if the run is a dry run; a call that is denied without a question is denied later, as in a real run.
#[inline]
pub(super) fn check(call: &mut Call<'_>, prepared: &Prepared) -> Result<(), CallError> {
    let run = call.run;
    if let Some(dry_run) = &run.settings.dry_run {
        call.judgment = judge(dry_run, call, prepared)?.map(Box::new);
    }
    Ok(())
}

/// Returns the result of a call that does not run.
#[inline]
pub(super) fn take_result(call: &mut Call<'_>) -> Option<CallResult> {
    match *call.judgment.take()? {
        Judgment::Planned(result) => Some(result),
        Judgment::Unasked => None,
    }
}

/// Returns the judgment of a call; `None` if it continues as in a real run.
fn judge(dry_run: &DryRun, call: &Call<'_>, prepared: &Prepared) -> Result<Option<Judgment>, CallError> {
    let (run, ctx, tool) = (call.run, call.ctx, &call.tool);
    let acts = tool.effect() != Effect::ReadOnly && !tool.changes_by_steps_only();
    if !acts && run.approvals().pre_approved(tool).is_some() {
        return Ok(None);
    }
    let request = run.request(ctx, tool, prepared).map_err(|fault| CallError::invalid(tool.name(), fault))?;
    let Some((approval, rule)) = run.needed_approval(ctx, tool, &request)? else { return Ok(None) };
    let is_asked = approval == PlannedApproval::Asked;
    // Only the effect requires the question: the nested calls with that effect are judged separately.
    let ran = !acts && (!is_asked || rule == RuleSource::Effect);
    if ran && !is_asked {
        return Ok(None);
    }
    let planned = planned(request, tool.kind().into(), ctx.frame().by, (approval, Some(rule)));
    let result = note(dry_run, ctx, PlannedCall { ran, ..planned });
    Ok(Some(if ran { Judgment::Unasked } else { Judgment::Planned(result) }))
}

fn planned(
    request: ApprovalRequest,
    what: PlannedKind,
    by: Caller,
    (approval, rule): (PlannedApproval, Option<RuleSource>),
) -> PlannedCall {
    let summary = request.summary();
    let ApprovalRequest { call, parent, tool: name, path, arguments, effect, .. } = request;
    PlannedCall { call, parent, name, what, by, path, summary, arguments, effect, approval, rule, ran: false }
}

/// Adds a call to the plan; returns its result in place of running.
fn note(dry_run: &DryRun, ctx: &CallContext, planned: PlannedCall) -> CallResult {
    ctx.emit(|| planned.event());
    let tool = planned.name.to_string();
    dry_run.add(planned).map(ToolReturn::from).ok_or(CallError::DryRun { tool })
}

impl Run {
    /// Returns the approval that a call needs, and the source of its rule; `None` if a rule or the mode denies the call.
    fn needed_approval(
        &self,
        ctx: &CallContext,
        tool: &Registered,
        request: &ApprovalRequest,
    ) -> Result<Option<(PlannedApproval, RuleSource)>, CallError> {
        if self.is_users(ctx) {
            return Ok(Some((PlannedApproval::NotNeeded, RuleSource::User)));
        }
        let build = || Ok(request.clone());
        let rule = self.approvals().rule(tool, ctx.frame().by, &mut LazyRequest::new(&build));
        let rule = rule.map_err(|fault| CallError::invalid(tool.name(), fault))?;
        Ok(self.planned_approval(decided(ctx, &rule)).map(|approval| (approval, rule.source.clone())))
    }

    /// Returns the approval that a call needs; `None` if it is denied. `by_rule` is the decision of its rule, if any.
    fn planned_approval(&self, by_rule: Option<Approval>) -> Option<PlannedApproval> {
        match (by_rule, self.approvals().mode()) {
            (Some(approval), _) => approval.is_approved().then_some(PlannedApproval::NotNeeded),
            (None, ApprovalMode::Prompt) => Some(PlannedApproval::Asked),
            (None, ApprovalMode::ApproveAll) => Some(PlannedApproval::ByMode),
            (None, ApprovalMode::RejectAll) => None,
        }
    }

    /// Adds an effect of a call to the plan, and returns its result; `None` if the effect runs.
    pub(super) fn plan_effect(&self, ctx: &CallContext, name: &str, input: &Value) -> Option<Result<Value, CallError>> {
        let dry_run = self.settings.dry_run.as_ref()?;
        if self.is_of_read_only_tool(ctx) {
            return None;
        }
        let step = ctx.clone().into_child(|ctx| self.effect_frame(ctx, name));
        let mut request = ApprovalRequest::new(name, input.clone());
        set_caller(&step, &mut request);
        let planned = planned(request, PlannedKind::Effect, Caller::Code, (PlannedApproval::NotNeeded, None));
        Some(note(dry_run, &step, planned).map(ToolReturn::into_value))
    }

    /// Returns whether the code that uses a context belongs to a read-only tool, and not to one of its guards.
    fn is_of_read_only_tool(&self, ctx: &CallContext) -> bool {
        let is_for_guard = ctx.is_unguarded() && !ctx.frame().is_unguarded;
        let tool = self.plane.registry.get(ctx.name()).filter(|_| !is_for_guard);
        tool.is_some_and(|tool| tool.kind() == ItemKind::Tool && tool.effect() == Effect::ReadOnly)
    }

    fn effect_frame(&self, ctx: &CallContext, name: &str) -> CallFrame {
        let from = ctx.frame();
        CallFrame {
            depth: from.depth,
            nesting: from.nesting + 1,
            is_unguarded: ctx.is_unguarded(),
            ..CallFrame::new(self.next_number(), name.into(), Caller::Code)
        }
    }

    /// Adds a server-side tool to the plan if it may change something or needs approval; returns whether the worker
    /// runs without it.
    pub(super) fn plans_server_side(
        &self,
        ctx: &CallContext,
        tool: &ServerSideTool,
        request: &ApprovalRequest,
        rule: &AppliedRule,
    ) -> bool {
        let needed = self.planned_approval(rule.approval());
        let Some((dry_run, approval)) = self.settings.dry_run.as_ref().zip(needed) else { return false };
        if approval != PlannedApproval::Asked && !acts(tool) {
            return false;
        }
        let by_rule = (approval, Some(rule.source.clone()));
        let planned = planned(request.clone(), PlannedKind::ServerSideTool, Caller::Model, by_rule);
        // The result is unused, since the provider runs the tool.
        drop(note(dry_run, ctx, planned));
        true
    }
}

/// Returns whether a server-side tool may change something. The listed ones read, create a part of the answer, or call
/// tools of this process.
fn acts(tool: &ServerSideTool) -> bool {
    !matches!(
        tool,
        ServerSideTool::WebSearch(_)
            | ServerSideTool::WebFetch
            | ServerSideTool::ImageGeneration
            | ServerSideTool::ProgrammaticToolCalling
    )
}
