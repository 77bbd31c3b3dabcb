//! Finds the callee of a call, and builds the frame of the call.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use super::journal::has_result;
use super::pipeline::Call;
use super::{Run, limits};
use crate::base::error::CallError;
use crate::observe::event::{Caller, ItemKind};
use crate::plane::call_stream::Pieces;
use crate::plane::context::{CallContext, CallExtras, CallFrame};
use crate::plane::declared::Callee;
use crate::plane::registry::Registered;

/// The callee: borrowed from the registry, or created for this call.
pub(super) type Found<'a> = Cow<'a, Arc<Registered>>;

/// Finds an item that the caller may call, or creates an inline worker.
pub(super) fn callee<'r>(
    run: &'r Run,
    caller: &CallContext,
    whom: Callee<'_>,
    by: Caller,
) -> Result<Found<'r>, CallError> {
    match whom {
        Callee::Inline(spec) => {
            let worker = run.plane.registry.inline(spec, caller.declared(), caller.name())?;
            Ok(Cow::Owned(Arc::new(worker)))
        }
        Callee::RuntimeWorker(name) => run.runtime_worker(name).map(Cow::Owned),
        _ => registered(run, caller, whom, by).map(Cow::Borrowed),
    }
}

/// Finds a registered item that the caller may call.
///
/// If a model calls an item that it may not call, the item is reported as unknown.
fn registered<'r>(
    run: &'r Run,
    caller: &CallContext,
    whom: Callee<'_>,
    by: Caller,
) -> Result<&'r Arc<Registered>, CallError> {
    let registry = &run.plane.registry;
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

/// Returns the frame of a call; a worker's depth is one more than its caller's.
#[inline]
pub(super) fn new_frame(
    run: &Run,
    caller: &CallContext,
    whom: Callee<'_>,
    tool: Option<&Registered>,
    by: Caller,
) -> CallFrame {
    let from = caller.frame();
    let resolved = || whom.resolve(caller.declared()).unwrap_or(whom.name());
    let name = tool.map_or_else(|| resolved().into(), |tool| Arc::clone(&tool.name));
    let pieces = match whom {
        Callee::Streamed(_, pieces) => Some(pieces),
        Callee::First(_) => run.settings.pieces.as_ref(),
        _ if by == Caller::User => run.settings.pieces.as_ref(),
        _ => None,
    };
    let is_worker = tool.is_some_and(|tool| tool.kind() == ItemKind::Worker);
    CallFrame {
        depth: from.depth + u32::from(is_worker),
        nesting: from.nesting + 1,
        variant: tool.and_then(|tool| tool.variant().cloned()),
        declared: tool.and_then(|tool| tool.declared.clone()),
        limits: tool.and_then(|tool| limits::of_worker(run, tool)),
        is_shadow: from.is_shadow,
        is_review: from.is_review,
        is_worker,
        is_unobserved: !run.events.is_observed,
        is_unguarded: caller.is_unguarded(),
        extras: pieces.map(with_pieces).unwrap_or_default(),
        ..CallFrame::new(run.next_number(), name, by)
    }
}

/// Returns what few calls have, for a call whose result arrives in pieces.
fn with_pieces(pieces: &Arc<Pieces>) -> OnceLock<Box<CallExtras>> {
    Box::new(CallExtras { pieces: Some(Arc::clone(pieces)), ..CallExtras::default() }).into()
}

/// Refuses the first call of a run if a worker below it would have no model.
pub(super) fn check_models(call: &Call<'_>) -> Result<(), CallError> {
    let Call { run, ctx, tool, .. } = call;
    // A run with a recorded result is replayed, which requires no model.
    if ctx.is_first() && !has_result(ctx) && !run.settings.renders_only {
        run.plane.models.check_run(tool, &run.plane.registry)?;
    }
    Ok(())
}
