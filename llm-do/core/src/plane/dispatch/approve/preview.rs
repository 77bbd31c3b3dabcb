//! The preview of a call, computed once the approver is asked.

use std::time::Duration;

use futures_util::FutureExt;
use tokio_util::task::AbortOnDropHandle;

use crate::base::clip::clip;
use crate::base::delay::within;
use crate::base::error::chain;
use crate::plane::approval::{ApprovalRequest, ShowPreview};
use crate::plane::context::CallContext;
use crate::plane::registry::Registered;

/// The maximum size of a preview in bytes: 100,000 characters of 4 bytes, and a note.
const MAX_BYTES: usize = 410_000;

/// The timeout of a preview; after it, the approver is asked without a preview.
const MAX_TIME: Duration = Duration::from_secs(10);

/// Returns the preview of a call, if its tool has one: it runs on a blocking thread, when it is polled.
pub(super) fn of(ctx: &CallContext, tool: &Registered, request: &ApprovalRequest) -> Option<ShowPreview> {
    let show = tool.preview()?;
    // `given` is present if a type serializes its value differently; the call would run with it.
    let arguments = request.given.as_ref().unwrap_or(&request.arguments).clone();
    let ctx = ctx.clone();
    let shown = async move {
        let shown = AbortOnDropHandle::new(tokio::task::spawn_blocking(move || show(&ctx, arguments)));
        match within(MAX_TIME, shown).await {
            Some(Ok(Ok(text))) => bounded(text),
            Some(Ok(Err(error))) => bounded(format!("No preview: {}", chain(&*error))),
            Some(Err(_)) => "No preview: the tool's `preview` function panicked".to_owned(),
            None => format!("No preview: the tool's `preview` function took longer than {} s", MAX_TIME.as_secs()),
        }
    };
    Some(shown.boxed())
}

fn bounded(text: String) -> String {
    let shown = clip(&text, MAX_BYTES);
    match text.len() - shown.len() {
        0 => text,
        more => format!("{shown}\n… {more} more bytes of the preview are not shown"),
    }
}
