//! A call that has started: whatever happens to it, it is reported as finished.

use std::borrow::Cow;
use std::time::Instant;

use llm_do_providers::Attachment;

use crate::base::error::{CallError, chain};
use crate::declare::tool::ToolReturn;
use crate::observe::event::{EventKind, ItemKind, Outcome};
use crate::plane::context::CallContext;
use crate::plane::registry::Prepared;

/// A call that has started and not finished; dropped, it is reported as cancelled.
pub(super) struct OpenCall<'a> {
    ctx: &'a CallContext,
    /// When it started, if anybody listens.
    begun: Option<Instant>,
    is_finished: bool,
    /// Whether its result is the journal's.
    pub(super) is_replayed: bool,
}

impl<'a> OpenCall<'a> {
    /// Reports that the call starts.
    pub(super) fn start(ctx: &'a CallContext, what: ItemKind, prepared: &Prepared) -> Self {
        // What cannot be written as JSON is refused where somebody must approve of it; an event goes without.
        let arguments = || prepared.arguments().map(Cow::into_owned).unwrap_or_default();
        let by = ctx.frame().by;
        ctx.emit(|| EventKind::CallStarted { what, by, arguments: arguments() });
        Self { ctx, begun: ctx.is_observed().then(Instant::now), is_replayed: false, is_finished: false }
    }

    /// Reports how the call ended.
    pub(super) fn finish(mut self, result: &Result<ToolReturn, CallError>) {
        self.is_finished = true;
        self.report(|| match result {
            Ok(returned) => {
                let named = |file: &Attachment| file.name().unwrap_or_else(|| file.media_type()).to_owned();
                let attachments = returned.attachments.iter().map(named).collect();
                (Outcome::Result(returned.value.clone()), attachments, returned.note.clone())
            }
            Err(error) => (Outcome::Error(chain(error)), Vec::new(), None),
        });
    }

    /// Reports what the call ended with: a value or an error, the names of files, a note.
    fn report(&self, ended: impl FnOnce() -> (Outcome, Vec<String>, Option<String>)) {
        self.ctx.emit(|| {
            let (outcome, attachments, note) = ended();
            let elapsed = self.begun.map(|begun| begun.elapsed()).unwrap_or_default();
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
