//! Reports that a call is refused, or that it has started and finished.

use std::time::Instant;

use llm_do_providers::Attachment;

use super::Run;
use super::pipeline::{Call, CallResult, yield_unless_cancelled};
use crate::base::error::{CallError, chain};
use crate::declare::tool::Effect;
use crate::observe::event::{Caller, EventKind, EventValue, ItemKind, Labels, Outcome};
use crate::plane::context::{CallContext, GivenArguments};
use crate::plane::function_tool::Acts;
use crate::plane::registry::{Prepared, Registered};

/// Reports that a call starts.
pub(super) fn start(call: &mut Call<'_>, prepared: &Prepared) {
    let (ctx, tool) = (call.ctx, &call.tool);
    // Arguments that cannot be serialized are refused if approval is required; an event omits them.
    let arguments = || prepared.arguments_of_event().unwrap_or_default();
    let (what, by) = (tool.kind(), ctx.frame().by);
    let background = ctx.frame().in_background().is_some();
    ctx.emit(|| EventKind::CallStarted { what, by, arguments: arguments(), effect: own_effect(tool), background });
    let started = ctx.is_observed().then(Instant::now);
    call.open = Some(OpenCall { ctx, started, is_replayed: false, is_finished: false });
}

/// Reports the result of a call, once.
pub(super) fn finish(call: &mut Call<'_>, result: &CallResult, labels: Labels) {
    if let Some(open) = call.open.take() {
        open.finish(result, labels);
    }
}

/// Returns the effect that a call of a tool may have itself.
fn own_effect(tool: &Registered) -> Option<Effect> {
    let acts = tool.kind() == ItemKind::Tool && matches!(tool.acts(), Acts::Itself | Acts::Either);
    Some(tool.effect()).filter(|effect| acts && *effect != Effect::ReadOnly)
}

/// A call that has started; if dropped before it finishes, it is reported as cancelled.
pub(super) struct OpenCall<'a> {
    ctx: &'a CallContext,
    /// When it started, if a sink receives events.
    started: Option<Instant>,
    is_finished: bool,
    /// Whether its result was replayed from the journal.
    pub(super) is_replayed: bool,
}

impl OpenCall<'_> {
    fn finish(mut self, result: &CallResult, labels: Labels) {
        self.is_finished = true;
        self.report(labels, || match result {
            Ok(returned) => {
                let named = |file: &Attachment| file.name().unwrap_or_else(|| file.media_type()).to_owned();
                let attachments = match &*returned.attachments {
                    [] => Vec::new(),
                    files => files.iter().map(named).collect(),
                };
                (Outcome::Result(EventValue::from_json(returned.content.clone())), attachments, returned.note.clone())
            }
            Err(error) => (Outcome::Error(chain(error)), Vec::new(), None),
        });
    }

    /// Reports the outcome of the call, the names of its files, and its note.
    fn report(&self, labels: Labels, finished: impl FnOnce() -> (Outcome, Vec<String>, Option<String>)) {
        self.ctx.emit(|| {
            let (outcome, attachments, note) = finished();
            let elapsed = self.started.map(|started| started.elapsed()).unwrap_or_default();
            let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
            EventKind::CallFinished { outcome, labels, attachments, note, elapsed_ms, replayed: self.is_replayed }
        });
    }
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        if !self.is_finished {
            let cancelled = || CallError::Cancelled { tool: self.ctx.name().to_owned() };
            self.report(Labels::default(), || (Outcome::Error(cancelled().to_string()), Vec::new(), None));
        }
    }
}

/// Refuses a call of an unknown item, or one with invalid arguments.
pub(super) async fn refuse(run: &Run, ctx: CallContext, error: CallError, given: GivenArguments<'_>) -> CallResult {
    yield_unless_cancelled(&ctx).await?;
    let arguments = if ctx.is_observed() { shown_arguments(run, &ctx, given) } else { None };
    refusal(run, &ctx, error, arguments).await
}

/// Reports that a call is refused; `arguments` are those for its event.
pub(super) async fn refusal(
    run: &Run,
    ctx: &CallContext,
    error: CallError,
    arguments: Option<EventValue>,
) -> CallResult {
    ctx.emit(|| EventKind::CallRefused { by: ctx.frame().by, error: chain(&error), arguments });
    if ctx.frame().by == Caller::User { run.finish(ctx, Err(error)).await } else { Err(error) }
}

/// Returns the form of arguments that were not decoded in events: without values that their types hide.
fn shown_arguments(run: &Run, ctx: &CallContext, given: GivenArguments<'_>) -> Option<EventValue> {
    let given = given.into_shown()?;
    Some(match run.plane.registry.get(ctx.name()) {
        Some(tool) => tool.shown(given).into(),
        None => given.into(),
    })
}
