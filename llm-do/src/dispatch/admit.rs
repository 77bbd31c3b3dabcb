//! Whether a call may run: who is called, with what, how deep.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::time::Instant;

use super::Run;
use super::perform::Prepared;
use super::record::place;
use crate::cancellation::Cancellation;
use crate::context::{CallContext, CallFrame, Deadline, Given, Heard};
use crate::declared::Callee;
use crate::error::CallError;
use crate::event::{Caller, Kind};
use crate::instance::Instances;
use crate::journal::{Places, Visit};
use crate::registry::Registered;
use crate::usage::{Limits, Meter};

/// How many calls of any kind may be in one another: more than programs need, and less than a stack of 2 MiB holds.
const MAX_NESTING: u32 = 50;

/// A call that may run.
pub(super) struct Admitted {
    pub(super) tool: Arc<Registered>,
    pub(super) prepared: Prepared,
    /// Its place in the journal, if there is one, where it is under way until this is dropped.
    pub(super) visit: Option<Visit>,
}

impl Run {
    /// Finds what the caller may call. A model is not told of what it may not.
    pub(super) fn find(
        &self,
        caller: &CallContext,
        whom: Callee<'_>,
        by: Caller,
    ) -> Result<Arc<Registered>, CallError> {
        let registry = &self.plane.registry;
        let declared = caller.declared();
        if let Some(tool) = whom.resolve(declared).and_then(|name| registry.get(name)) {
            return Ok(Arc::clone(tool));
        }
        let (name, tool) = (whom.name(), whom.name().to_owned());
        let is_shown = declared.is_some_and(|declared| declared.shown(name).is_some());
        if by != Caller::Model && !is_shown && registry.get(name).is_some() {
            return Err(CallError::NotDeclared { tool, caller: caller.name().to_owned() });
        }
        Err(CallError::NotFound { tool, hint: registry.hint(name, declared) })
    }

    /// Finds what the caller may call, or puts it together.
    pub(super) fn callee(
        &self,
        caller: &CallContext,
        whom: Callee<'_>,
        by: Caller,
    ) -> Result<Arc<Registered>, CallError> {
        match whom {
            Callee::Inline(spec) => self.plane.registry.inline(spec, caller.declared(), caller.name()).map(Arc::new),
            Callee::Made(name) => self.made(name),
            _ => self.find(caller, whom, by),
        }
    }

    /// Begins the frame of a call; a worker is one deeper than its caller.
    pub(super) fn frame(
        &self,
        caller: &CallContext,
        whom: Callee<'_>,
        tool: Option<&Registered>,
        by: Caller,
    ) -> CallFrame {
        let from = caller.frame();
        let resolved = || whom.resolve(caller.declared()).unwrap_or(whom.name());
        let name = tool.map_or_else(|| resolved().into(), |tool| Arc::clone(&tool.spec.name));
        CallFrame {
            call: self.number(),
            depth: from.depth + u32::from(tool.is_some_and(|tool| tool.kind() == Kind::Worker)),
            nesting: from.nesting + 1,
            by,
            declared: tool.and_then(|tool| tool.declared.clone()),
            meter: Meter::default(),
            instances: Instances::default(),
            cancellation: Cancellation::default(),
            deadline: OnceLock::new(),
            limits: tool.and_then(|tool| self.limits(tool)),
            recorder: OnceLock::new(),
            is_shadow: from.is_shadow,
            is_worker: tool.is_some_and(|tool| tool.kind() == Kind::Worker),
            is_unguarded: caller.is_unguarded(),
            arguments: OnceLock::new(),
            attached: OnceLock::new(),
            heard: Heard::default(),
            step: OnceLock::new(),
            places: Places::default(),
            name,
        }
    }

    /// Decodes the arguments and decides whether the call may run.
    pub(super) async fn admit(
        &self,
        ctx: &CallContext,
        found: Result<Arc<Registered>, CallError>,
        arguments: Given,
    ) -> Result<Admitted, CallError> {
        let tool = found?;
        let mut prepared = Prepared::decode(&tool, arguments)?;
        if let Some(guards) = self.plane.guards(ctx) {
            prepared = Box::pin(self.before_call(guards, ctx, &tool, prepared)).await?;
        }
        self.descend(ctx, &tool, &prepared)?;
        let visit = place(ctx, &tool, &prepared)?;
        self.approve(ctx, &tool, &mut prepared).await?;
        // Last, since it counts: a call that is refused uses nothing.
        if let Some(caller) = ctx.caller().filter(|_| ctx.frame().by != Caller::User) {
            caller.add_tool_call()?;
        }
        Ok(Admitted { tool, prepared, visit })
    }

    /// Begins the time of a call that starts; it ends no later than its caller's.
    pub(super) fn begin_time(&self, ctx: &CallContext, tool: &Registered) {
        let callers = ctx.caller().and_then(CallContext::deadline);
        if let Some(deadline) = deadline(callers, &tool.spec.name, self.timeout(tool)) {
            drop(ctx.frame().deadline.set(deadline));
        }
    }

    /// Returns how long a call of the tool may take: as the session says, or else the tool itself.
    fn timeout(&self, tool: &Registered) -> Option<Duration> {
        let timeouts = &self.plane.timeouts;
        let timeout = if timeouts.is_empty() { None } else { timeouts.get(tool.name()).copied() };
        let wall_time = self.limits(tool).and_then(|limits| limits.wall_time);
        timeout.or(tool.timeout).into_iter().chain(wall_time).min()
    }

    /// Returns what a worker's call may use: as the session says, or else the worker itself.
    fn limits(&self, tool: &Registered) -> Option<Arc<Limits>> {
        let plan = tool.plan()?;
        self.plane.worker_limits.get(tool.name()).cloned().or_else(|| plan.limits.clone())
    }

    /// Refuses a call that is too deep, too late, or the same as one that it is below of.
    fn descend(&self, ctx: &CallContext, tool: &Registered, prepared: &Prepared) -> Result<(), CallError> {
        let (frame, name) = (ctx.frame(), || tool.name().to_owned());
        if frame.nesting > MAX_NESTING {
            return Err(CallError::Nesting { tool: name(), limit: MAX_NESTING });
        }
        if let Some(over) = ctx.caller().and_then(CallContext::deadline).filter(|own| own.is_over()) {
            return Err(over.error());
        }
        if tool.kind() != Kind::Worker {
            return Ok(());
        }
        let limit = self.plane.max_depth;
        if frame.depth > limit {
            let caller = ctx.caller().map(|caller| caller.name().to_owned()).unwrap_or_default();
            return Err(CallError::Depth { tool: name(), caller, depth: frame.depth - 1, limit });
        }
        let arguments = frame.arguments.get_or_init(|| prepared.arguments().unwrap_or_default().into_owned());
        let is_same = |above: &CallFrame| above.name == frame.name && above.arguments.get() == Some(arguments);
        if ctx.frames().skip(1).any(is_same) {
            return Err(CallError::Cycle { tool: name() });
        }
        Ok(())
    }
}

/// Returns the earlier of the caller's deadline and the call's own.
fn deadline(callers: Option<&Deadline>, name: &Arc<str>, timeout: Option<Duration>) -> Option<Deadline> {
    let own = timeout
        .and_then(|after| Some(Deadline { at: Instant::now().checked_add(after)?, of: Arc::clone(name), after }));
    match (callers, own) {
        (Some(callers), Some(own)) if callers.at <= own.at => Some(callers.clone()),
        (_, Some(own)) => Some(own),
        (callers, None) => callers.cloned(),
    }
}
