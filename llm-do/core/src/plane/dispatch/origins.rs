//! Notes what calls read, for those who decide about later calls.

use std::sync::Arc;

use serde_json::Value;

use super::pipeline::{Call, CallResult};
use crate::base::error::chain;
use crate::observe::event::Caller;
use crate::plane::call_summary;
use crate::plane::context::CallContext;
use crate::plane::registry::Prepared;

/// Notes the user's own call as the request of its run.
#[inline]
pub(super) fn note_root(call: &Call<'_>, prepared: &mut Prepared) {
    let ctx = call.ctx;
    if ctx.frame().by != Caller::User || !ctx.tracks_origins() {
        return;
    }
    if let Ok(arguments) = prepared.share_arguments() {
        ctx.note_root(arguments, call.run.settings.gates_root);
    }
}

/// Returns a call in one line, if its caller notes the result.
#[inline]
pub(super) fn begin(call: &Call<'_>, prepared: &mut Prepared) -> Option<Arc<str>> {
    let ctx = call.ctx;
    if ctx.frame().by == Caller::User || !ctx.tracks_origins() {
        return None;
    }
    let arguments = prepared.share_arguments().ok();
    let none = Value::Null;
    Some(call_summary::listed(ctx.name(), arguments.as_deref().unwrap_or(&none)).into())
}

/// Notes for the caller that it has read the result of a call, or its error.
pub(super) fn finish(ctx: &CallContext, summary: Arc<str>, result: &CallResult) {
    match result {
        Ok(returned) => ctx.note_result(summary, &returned.as_value()),
        Err(error) => ctx.note_result(summary, &chain(error).into()),
    }
}
