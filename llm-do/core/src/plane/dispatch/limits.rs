//! The limits of a call: nesting, cycles, deadlines and the number of calls.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::Run;
use super::deep::MAX_NESTING;
use super::pipeline::Call;
use super::run_settings::lowest;
use crate::base::error::CallError;
use crate::base::usage::Limits;
use crate::declare::toolset::Anything;
use crate::observe::event::{Caller, ItemKind};
use crate::plane::context::{CallContext, CallFrame, Deadline, ReservedCall};
use crate::plane::registry::{Prepared, Registered};

/// Refuses a call that is nested too deep, past the deadline, or equal to one of its callers.
pub(super) fn check(call: &Call<'_>, prepared: &Prepared) -> Result<(), CallError> {
    let (run, ctx, tool) = (call.run, call.ctx, &call.tool);
    let (frame, name) = (ctx.frame(), || tool.name().to_owned());
    if frame.nesting > MAX_NESTING {
        return Err(CallError::Nesting { tool: name(), limit: MAX_NESTING });
    }
    ctx.caller().map_or(Ok(()), CallContext::check_deadline)?;
    if tool.kind() != ItemKind::Worker {
        return Ok(());
    }
    let outer = run.outer_runs().map(|run| run.plane.config.max_depth);
    let limit = outer.fold(run.plane.config.max_depth, u32::min);
    if frame.depth > limit {
        let caller = ctx.caller().map(|caller| caller.name().to_owned()).unwrap_or_default();
        return Err(CallError::Depth { tool: name(), caller, depth: frame.depth - 1, limit });
    }
    refuse_cycle(ctx, tool, prepared)
}

/// Reserves the call for its callers, before the approver is asked. Dropping the reservation releases it.
pub(super) fn reserve<'a>(call: &Call<'a>) -> Result<Option<ReservedCall<'a, Anything>>, CallError> {
    let caller = call.ctx.caller().filter(|_| call.ctx.frame().by != Caller::User);
    caller.map(CallContext::reserve_tool_call).transpose()
}

/// Counts an approved call.
pub(super) fn count(call: &Call<'_>, prepared: &Prepared, reserved: Option<ReservedCall<'_, Anything>>) {
    if call.tool.kind() == ItemKind::Worker {
        // The approved arguments may have been edited; nested calls are compared with the arguments that run.
        drop(call.ctx.frame().arguments.set(Box::new(cycle_key(&call.tool, prepared).into_owned())));
    }
    if let Some(reserved) = reserved {
        reserved.make();
    }
}

/// Sets the deadline of a call that starts, if it has a timeout.
pub(super) fn start(call: &Call<'_>) {
    let (run, ctx, tool) = (call.run, call.ctx, &call.tool);
    let Some(timeout) = timeout(run, ctx, tool) else { return };
    let spent = if ctx.frame().by == Caller::User { run.settings.time_spent } else { Duration::ZERO };
    let own = Deadline::after(timeout, spent, Arc::clone(&tool.name));
    // Of equal deadlines, the caller's counts.
    let callers = ctx.caller().and_then(CallContext::deadline);
    if callers.is_none_or(|callers| own.end() != callers.end()) {
        drop(ctx.frame().deadline.set(Box::new(own)));
    }
}

/// Returns the timeout of a call: the session's for the tool, or else the tool's own, but at most the wall time limit.
fn timeout(run: &Run, ctx: &CallContext, tool: &Registered) -> Option<Duration> {
    let of_session = |run: &Run| run.plane.config.timeouts.get(tool.name()).copied();
    let wall_time = ctx.frame().limits.as_ref().and_then(|limits| limits.wall_time);
    let own = shorter(of_session(run).or(tool.timeout), wall_time);
    run.outer_runs().map(of_session).fold(own, shorter)
}

/// Returns the limits of a worker call: the session's for the worker, or else the worker's own, combined with the
/// limits that outer sessions have for its name.
pub(super) fn of_worker(run: &Run, tool: &Registered) -> Option<Arc<Limits>> {
    let plan = tool.plan()?;
    let of_session = |run: &Run| run.plane.config.worker_limits.get(tool.name()).cloned();
    let own = of_session(run).or_else(|| plan.limits.clone());
    run.outer_runs().map(of_session).fold(own, lowest)
}

/// Returns the shorter of two timeouts.
fn shorter(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Refuses a call of a worker with the same arguments as one of its callers.
pub(super) fn refuse_cycle(ctx: &CallContext, tool: &Registered, prepared: &Prepared) -> Result<(), CallError> {
    if tool.kind() != ItemKind::Worker {
        return Ok(());
    }
    let arguments = cycle_key(tool, prepared);
    let is_same = |above: &CallFrame| {
        *above.name == *tool.name() && above.arguments.get().is_some_and(|above| **above == *arguments)
    };
    if ctx.frames_of_run().skip(1).any(is_same) {
        return Err(CallError::Cycle { tool: tool.name().to_owned() });
    }
    Ok(())
}

/// Returns the value that identifies a call for cycle detection: the arguments, and the variant if several workers share the name.
fn cycle_key<'p>(tool: &Registered, prepared: &'p Prepared) -> Cow<'p, Value> {
    let arguments = prepared.normal_arguments().unwrap_or_default();
    match tool.variant() {
        Some(variant) => Cow::Owned(json!([variant.as_str(), arguments])),
        None => arguments,
    }
}
