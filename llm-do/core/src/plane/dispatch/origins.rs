//! Notes what calls read, for those who decide about later calls.

use std::sync::Arc;

use serde_json::Value;

use super::Run;
use super::pipeline::{Call, CallResult};
use crate::base::error::chain;
use crate::base::json::Json;
use crate::observe::event::{Caller, Label};
use crate::plane::call_summary;
use crate::plane::context::CallContext;
use crate::plane::declared::Callee;
use crate::plane::registry::Prepared;

/// Notes the user's own call as the request of its run.
#[inline]
pub(super) fn note_root(call: &Call<'_>, prepared: &Prepared) {
    let ctx = call.ctx;
    if ctx.frame().by != Caller::User || !ctx.tracks_origins() {
        return;
    }
    if let Ok(arguments) = prepared.arguments() {
        ctx.note_root(Arc::clone(arguments.shared_value()), call.run.settings.gates_root);
    }
}

/// What is noted of a call that starts.
pub(super) struct OpenReading {
    summary: Arc<str>,
    /// The label of its tool, and of the arguments of a call that may return them.
    label: Label,
}

/// Returns what is noted of a call, if its caller notes the result.
#[inline]
pub(super) fn begin(call: &Call<'_>, prepared: &Prepared) -> Option<OpenReading> {
    let ctx = call.ctx;
    if ctx.frame().by == Caller::User || !ctx.tracks_origins() {
        return None;
    }
    let arguments = prepared.arguments().map_or(&Value::Null, Json::value);
    let label = label(call, arguments);
    if is_of_guard(ctx) {
        return None;
    }
    Some(OpenReading { summary: call_summary::listed(ctx.name(), arguments).into(), label })
}

/// Returns whether a guard made the call, with the context of a caller that does not get the result.
fn is_of_guard(ctx: &CallContext) -> bool {
    ctx.frame().is_unguarded && !ctx.caller().is_some_and(|caller| caller.frame().is_unguarded)
}

/// Returns the label of what a call returns, besides that of what it reads; a call that makes calls starts with that of its arguments.
fn label(call: &Call<'_>, arguments: &Value) -> Label {
    let (ctx, tool) = (call.ctx, &call.tool);
    let approvals = call.run.approvals();
    if !approvals.has_flow() {
        return Label::Trusted;
    }
    let source = approvals.source_label(tool);
    let has_read = ctx.caller_notes().is_some_and(|notes| notes.label() != Label::Trusted);
    if !has_read {
        return source;
    }
    let origins = ctx.origins(arguments, tool.parameters());
    if tool.is_composite() {
        // Its code may pass them on.
        origins.carried().into_iter().for_each(|reading| ctx.origin_notes().add(reading));
        ctx.origin_notes().join(origins.label());
    }
    source.join(origins.label())
}

/// Notes for the caller that it has read the result of a call, or its error.
pub(super) fn finish(ctx: &CallContext, OpenReading { summary, label }: OpenReading, result: &CallResult) {
    match result {
        Ok(returned) => ctx.note_result(summary, returned.value(), label),
        Err(error) => ctx.note_result(summary, &chain(error).into(), label),
    }
}

impl Run {
    /// Returns the label of an earlier result in the conversation of a worker, or of its messages: history processors may have put what was
    /// read into a summary, and a worker's answer has no label any more.
    pub(super) fn earlier_label(&self, worker: &CallContext, shown: Option<&str>) -> Label {
        if !self.approvals().has_flow() {
            return Label::Trusted;
        }
        let untrusted = |is_untrusted| if is_untrusted { Label::Untrusted } else { Label::Trusted };
        let Some(shown) = shown else {
            // Code may have put what it read into the messages of a thread.
            return untrusted(!self.plane.config.processors.is_empty() || worker.frame().thread.is_some());
        };
        let name = Callee::Shown(shown).resolve(worker.declared());
        match name.and_then(|name| self.plane.registry.get(name)) {
            Some(tool) if tool.server().is_some() || !tool.is_composite() => self.approvals().source_label(tool),
            _ => Label::Untrusted,
        }
    }
}
