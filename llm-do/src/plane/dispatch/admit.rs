//! Admission of a call: finds the callee, and checks arguments, nesting, limits and approval.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::Run;
use super::approve::{RecordedCall, first_round};
use super::begun::unfinished;
use super::decode::decode_async_or_keep;
use super::deep::MAX_NESTING;
use super::record::{journal_step, result_step};
use super::run_settings::lowest;
use crate::base::error::CallError;
use crate::base::usage::Limits;
use crate::declare::argument::Given;
use crate::declare::tool::{ResultForm, ToolReturn};
use crate::observe::event::{Caller, EventValue, ItemKind};
use crate::observe::journal::{AnnouncedCall, InFlightStep};
use crate::plane::context::{CallContext, CallFrame, Deadline, GivenArguments};
use crate::plane::declared::Callee;
use crate::plane::registry::{Prepared, Registered};

/// The callee: borrowed from the registry, or created for this call.
type Found<'a> = Cow<'a, Arc<Registered>>;

/// A call whose callee is found and whose arguments are decoded.
pub(super) struct Proposed<'a> {
    tool: Found<'a>,
    prepared: Prepared,
    /// Set once the call waits for something before it has its place in the journal.
    announced: Option<AnnouncedCall>,
}

/// A call that is allowed to run.
pub(super) struct Admitted<'a> {
    pub(super) tool: Found<'a>,
    pub(super) prepared: Prepared,
    /// Its step in the journal, if there is a journal: in flight until this is dropped.
    pub(super) in_flight: Option<InFlightStep>,
    /// The 0-based number of the attempt: more than 0 if the call began before and its result is not recorded.
    pub(super) attempt: u32,
}

/// A call that is not allowed to run.
pub(super) struct Refused {
    pub(super) error: CallError,
    /// The arguments for its event, if a sink receives it.
    pub(super) arguments: Option<EventValue>,
}

impl<'a> Proposed<'a> {
    pub(super) fn new(tool: Found<'a>, prepared: Prepared, announced: Option<AnnouncedCall>) -> Self {
        Self { tool, prepared, announced }
    }
}

impl Run {
    /// Executes a call whose arguments take long to check.
    pub(super) async fn decode_and_execute(
        &self,
        ctx: CallContext,
        tool: Found<'_>,
        arguments: impl Into<Given>,
        is_read: bool,
    ) -> Result<ToolReturn, CallError> {
        let announced = ctx.announce();
        self.decode_and_execute_announced(ctx, tool, arguments, is_read, announced).await
    }

    /// The same for a call that is announced.
    pub(super) async fn decode_and_execute_announced(
        &self,
        ctx: CallContext,
        tool: Found<'_>,
        arguments: impl Into<Given>,
        is_read: bool,
        announced: Option<AnnouncedCall>,
    ) -> Result<ToolReturn, CallError> {
        let mut refused = None;
        match decode_async_or_keep(&ctx, &tool, arguments, is_read, &mut refused).await {
            Ok(prepared) => self.execute(ctx, Proposed::new(tool, prepared, announced)).await,
            Err(error) => self.refuse(ctx, error, GivenArguments::refused(None, refused)).await,
        }
    }

    /// Finds an item that the caller may call.
    ///
    /// For a model, an item that it may not call is reported as unknown.
    pub(super) fn find(
        &self,
        caller: &CallContext,
        whom: Callee<'_>,
        by: Caller,
    ) -> Result<&Arc<Registered>, CallError> {
        let registry = &self.plane.registry;
        let declared = caller.declared();
        if let Some(tool) = whom.resolve(declared).and_then(|name| registry.get(name)) {
            return Ok(tool);
        }
        let (name, tool) = (whom.name(), whom.name().to_owned());
        let is_shown = declared.is_some_and(|declared| declared.shown(name).is_some());
        if by != Caller::Model && !is_shown && registry.get(name).is_some() {
            return Err(CallError::NotDeclared { tool, caller: caller.name().to_owned() });
        }
        Err(CallError::NotFound { tool, hint: registry.hint(name, declared) })
    }

    /// Finds an item that the caller may call, or creates an inline worker.
    pub(super) fn callee(&self, caller: &CallContext, whom: Callee<'_>, by: Caller) -> Result<Found<'_>, CallError> {
        match whom {
            Callee::Inline(spec) => {
                let worker = self.plane.registry.inline(spec, caller.declared(), caller.name())?;
                Ok(Cow::Owned(Arc::new(worker)))
            }
            Callee::RuntimeWorker(name) => self.runtime_worker(name).map(Cow::Owned),
            _ => self.find(caller, whom, by).map(Cow::Borrowed),
        }
    }

    /// Returns the frame of a call; a worker's depth is one more than its caller's.
    #[inline]
    pub(super) fn new_frame(
        &self,
        caller: &CallContext,
        whom: Callee<'_>,
        tool: Option<&Registered>,
        by: Caller,
        form: ResultForm,
    ) -> CallFrame {
        let from = caller.frame();
        let resolved = || whom.resolve(caller.declared()).unwrap_or(whom.name());
        let name = tool.map_or_else(|| resolved().into(), |tool| Arc::clone(&tool.name));
        let is_worker = tool.is_some_and(|tool| tool.kind() == ItemKind::Worker);
        CallFrame {
            depth: from.depth + u32::from(is_worker),
            nesting: from.nesting + 1,
            variant: tool.and_then(|tool| tool.variant().cloned()),
            declared: tool.and_then(|tool| tool.declared.clone()),
            limits: tool.and_then(|tool| self.limits(tool)),
            is_shadow: from.is_shadow,
            is_worker,
            is_unobserved: !self.is_observed,
            is_unguarded: caller.is_unguarded(),
            form,
            ..CallFrame::new(self.next_number(), name, by)
        }
    }

    /// Checks whether the call may run.
    pub(super) async fn admit<'a>(
        &self,
        ctx: &CallContext,
        proposed: Proposed<'a>,
    ) -> Result<Admitted<'a>, Box<Refused>> {
        let Proposed { tool, mut prepared, announced } = proposed;
        match self.check(ctx, &tool, &mut prepared, announced).await {
            Ok((in_flight, attempt)) => Ok(Admitted { tool, prepared, in_flight, attempt }),
            Err(error) => {
                let arguments = if ctx.is_observed() { prepared.arguments_of_event().ok() } else { None };
                Err(Box::new(Refused { error, arguments }))
            }
        }
    }

    /// Checks whether the call may run; returns its step in the journal, if there is one, and the number of its attempt.
    #[inline]
    async fn check(
        &self,
        ctx: &CallContext,
        tool: &Arc<Registered>,
        prepared: &mut Prepared,
        mut announced: Option<AnnouncedCall>,
    ) -> Result<(Option<InFlightStep>, u32), CallError> {
        if ctx.is_first() && !has_result(ctx) && !self.settings.renders_only {
            self.plane.models.check_run(tool, &self.plane.registry)?;
        }
        if let Some(guards) = self.guards(ctx) {
            announced = announced.or_else(|| ctx.announce());
            Box::pin(self.before_call(guards, ctx, tool, prepared)).await?;
        }
        self.check_nesting(ctx, tool, prepared)?;
        let in_flight = journal_step(ctx, tool, prepared, announced)?;
        if in_flight.is_some()
            && let Some(caller) = ctx.caller()
        {
            Box::pin(caller.record_denials()).await?;
        }
        // Before the approver is asked; released if the call is refused.
        let caller = ctx.caller().filter(|_| ctx.frame().by != Caller::User);
        let reserved = caller.map(CallContext::reserve_tool_call).transpose()?;
        let attempt = if let Some(call) = unfinished(ctx, tool) {
            Box::pin(self.decide_begun(ctx, tool, prepared, call)).await?
        } else {
            self.decide(ctx, tool, prepared, 0).await?;
            0
        };
        if tool.kind() == ItemKind::Worker {
            // The approved arguments, which may have been edited: nested calls are compared with what runs.
            drop(ctx.frame().arguments.set(Box::new(cycle_key(tool, prepared).into_owned())));
        }
        if let Some(reserved) = reserved {
            reserved.make();
        }
        Ok((in_flight, attempt))
    }

    /// Decides about a call by its records, by the approval rules, or by the approver; if it is journaled, records a refusal.
    ///
    /// `attempt` is its 0-based number.
    #[inline]
    pub(super) async fn decide(
        &self,
        ctx: &CallContext,
        tool: &Arc<Registered>,
        prepared: &mut Prepared,
        attempt: u32,
    ) -> Result<(), CallError> {
        let is_journaled = ctx.frame().by != Caller::User && ctx.frame().step.get().is_some();
        if is_journaled
            && let Some(recorded) = RecordedCall::find(ctx, first_round(attempt))
            && Box::pin(self.decide_as_recorded(ctx, tool, prepared, recorded, attempt)).await?
        {
            return Ok(());
        }
        match self.check_rules(ctx, tool, prepared) {
            Ok(None) => Ok(()),
            Ok(Some(request)) => Box::pin(self.approve(ctx, tool, prepared, request, attempt)).await,
            Err(refusal) if is_journaled => {
                Err(Box::pin(self.record_refusal(ctx, refusal, first_round(attempt))).await)
            }
            Err(refusal) => Err(refusal),
        }
    }

    /// Sets the deadline of a call that starts, if it has a timeout.
    pub(super) fn set_deadline(&self, ctx: &CallContext, tool: &Registered) {
        let Some(timeout) = self.timeout(ctx, tool) else { return };
        let spent = if ctx.frame().by == Caller::User { self.settings.time_spent } else { Duration::ZERO };
        let own = Deadline::after(timeout, spent, Arc::clone(&tool.name));
        // Of equal ones, the caller's counts.
        let callers = ctx.caller().and_then(CallContext::deadline);
        if callers.is_none_or(|callers| own.end() != callers.end()) {
            drop(ctx.frame().deadline.set(Box::new(own)));
        }
    }

    /// Returns the timeout of a call: the session's for the tool, or else the tool's own; at most the wall time limit.
    fn timeout(&self, ctx: &CallContext, tool: &Registered) -> Option<Duration> {
        let of_session = |run: &Self| run.plane.config.timeouts.get(tool.name()).copied();
        let wall_time = ctx.frame().limits.as_ref().and_then(|limits| limits.wall_time);
        let own = shorter(of_session(self).or(tool.timeout), wall_time);
        self.outer_runs().map(of_session).fold(own, shorter)
    }

    /// Returns the limits of a worker's call: the session's for the worker, or else the worker's own; and those that outer
    /// sessions have for its name.
    fn limits(&self, tool: &Registered) -> Option<Arc<Limits>> {
        let plan = tool.plan()?;
        let of_session = |run: &Self| run.plane.config.worker_limits.get(tool.name()).cloned();
        let own = of_session(self).or_else(|| plan.limits.clone());
        self.outer_runs().map(of_session).fold(own, lowest)
    }

    /// Refuses a call that is nested too deep, past the deadline, or equal to one of its callers.
    fn check_nesting(&self, ctx: &CallContext, tool: &Registered, prepared: &Prepared) -> Result<(), CallError> {
        let (frame, name) = (ctx.frame(), || tool.name().to_owned());
        if frame.nesting > MAX_NESTING {
            return Err(CallError::Nesting { tool: name(), limit: MAX_NESTING });
        }
        ctx.caller().map_or(Ok(()), CallContext::check_deadline)?;
        if tool.kind() != ItemKind::Worker {
            return Ok(());
        }
        let outer = self.outer_runs().map(|run| run.plane.config.max_depth);
        let limit = outer.fold(self.plane.config.max_depth, u32::min);
        if frame.depth > limit {
            let caller = ctx.caller().map(|caller| caller.name().to_owned()).unwrap_or_default();
            return Err(CallError::Depth { tool: name(), caller, depth: frame.depth - 1, limit });
        }
        refuse_cycle(ctx, tool, prepared)
    }
}

/// Returns the shorter of two timeouts.
fn shorter(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Returns whether the journal has the result of the run; its calls are then replayed and need no model.
fn has_result(ctx: &CallContext) -> bool {
    let user = ctx.caller().filter(|_| ctx.frame().by == Caller::User);
    let run = user.and_then(|user| user.frame().step.get());
    let (Some(journal), Some(run)) = (ctx.journal(), run) else { return false };
    journal.is_recorded(&result_step(run).key)
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
