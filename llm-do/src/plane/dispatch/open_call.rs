//! Reports that a call has started, and that it has finished however it ends.

use std::time::Instant;

use llm_do_providers::Attachment;

use crate::base::error::{CallError, chain};
use crate::declare::tool::{Effect, ToolReturn};
use crate::observe::event::{EventKind, EventValue, ItemKind, Outcome};
use crate::plane::context::CallContext;
use crate::plane::function_tool::Acts;
use crate::plane::registry::{Prepared, Registered};

/// Returns what a call of a tool may change itself.
fn own_effect(tool: &Registered) -> Option<Effect> {
    let acts = tool.kind() == ItemKind::Tool && matches!(tool.acts(), Acts::Itself | Acts::Either);
    Some(tool.effect()).filter(|effect| acts && *effect != Effect::ReadOnly)
}

/// A call in flight; if dropped before it finishes, it is reported as cancelled.
pub(super) struct OpenCall<'a> {
    ctx: &'a CallContext,
    /// When it started, if a sink receives events.
    started: Option<Instant>,
    is_finished: bool,
    /// The 0-based number of the attempt.
    pub(super) attempt: u32,
    /// Whether its result was replayed from the journal.
    pub(super) is_replayed: bool,
}

impl<'a> OpenCall<'a> {
    /// Reports that the call starts; `attempt` is the 0-based number of its attempt.
    pub(super) fn start(ctx: &'a CallContext, tool: &Registered, prepared: &mut Prepared, attempt: u32) -> Self {
        // Arguments that cannot be written as JSON are refused if approval is needed; an event omits them.
        let mut arguments = || prepared.arguments_of_event().unwrap_or_default();
        let (what, by) = (tool.kind(), ctx.frame().by);
        ctx.emit(|| EventKind::CallStarted { what, by, arguments: arguments(), effect: own_effect(tool) });
        Self { ctx, started: ctx.is_observed().then(Instant::now), attempt, is_replayed: false, is_finished: false }
    }

    /// Reports the result of the call.
    pub(super) fn finish(mut self, result: &Result<ToolReturn, CallError>) {
        self.is_finished = true;
        self.report(|| match result {
            Ok(returned) => {
                let named = |file: &Attachment| file.name().unwrap_or_else(|| file.media_type()).to_owned();
                let attachments = match &*returned.attachments {
                    // Few results have files: nothing is collected.
                    [] => Vec::new(),
                    files => files.iter().map(named).collect(),
                };
                (Outcome::Result(EventValue::of_result(returned)), attachments, returned.note.clone())
            }
            Err(error) => (Outcome::Error(chain(error)), Vec::new(), None),
        });
    }

    /// Reports the outcome of the call, the names of its files, and its note.
    fn report(&self, finished: impl FnOnce() -> (Outcome, Vec<String>, Option<String>)) {
        self.ctx.emit(|| {
            let (outcome, attachments, note) = finished();
            let elapsed = self.started.map(|started| started.elapsed()).unwrap_or_default();
            let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
            EventKind::CallFinished { outcome, attachments, note, elapsed_ms, replayed: self.is_replayed }
        });
    }
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        if !self.is_finished {
            let cancelled = || CallError::Cancelled { tool: self.ctx.name().to_owned() };
            self.report(|| (Outcome::Error(cancelled().to_string()), Vec::new(), None));
        }
    }
}
