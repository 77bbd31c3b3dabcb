//! A call that has started: whatever happens to it, it is reported as finished.

use std::borrow::Cow;
use std::time::Instant;

use llm_do_providers::Attachment;

use crate::context::CallContext;
use crate::error::{CallError, chain};
use crate::event::{EventKind, Kind, Outcome};
use crate::registry::Prepared;
use crate::tool::ToolReturn;

/// A call that has started and not finished; dropped, it is reported as cancelled.
pub(super) struct OpenCall<'a> {
    ctx: &'a CallContext,
    begun: Instant,
    is_finished: bool,
    /// Whether its result is the journal's.
    pub(super) is_replayed: bool,
}

impl<'a> OpenCall<'a> {
    /// Reports that the call starts.
    pub(super) fn start(ctx: &'a CallContext, what: Kind, prepared: &Prepared) -> Self {
        // What cannot be written as JSON is refused where somebody must approve of it; an event goes without.
        let arguments = || prepared.arguments().map(Cow::into_owned).unwrap_or_default();
        let by = ctx.frame().by;
        ctx.emit(|| EventKind::CallStarted { what, by, arguments: arguments() });
        Self { ctx, begun: Instant::now(), is_replayed: false, is_finished: false }
    }

    /// Reports how the call ended.
    pub(super) fn finish(mut self, result: &Result<ToolReturn, CallError>) {
        match result {
            Ok(returned) => {
                let named = |file: &Attachment| file.name().unwrap_or_else(|| file.media_type()).to_owned();
                let attachments = returned.attachments.iter().map(named).collect();
                self.report(Outcome::Result(returned.value.clone()), attachments, returned.note.clone());
            }
            Err(error) => self.report(Outcome::Error(chain(error)), Vec::new(), None),
        }
    }

    fn report(&mut self, outcome: Outcome, attachments: Vec<String>, note: Option<String>) {
        self.is_finished = true;
        let replayed = self.is_replayed;
        let elapsed_ms = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.ctx.emit(|| EventKind::CallFinished { outcome, attachments, note, elapsed_ms, replayed });
    }
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        if !self.is_finished {
            let cancelled = CallError::Cancelled { tool: self.ctx.name().to_owned() };
            self.report(Outcome::Error(cancelled.to_string()), Vec::new(), None);
        }
    }
}
