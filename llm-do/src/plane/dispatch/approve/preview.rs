//! The preview of a call, computed once the approver is asked.

use futures_util::FutureExt;
use tokio_util::task::AbortOnDropHandle;

use crate::base::error::chain;
use crate::plane::approval::{ApprovalRequest, ShowPreview};
use crate::plane::context::CallContext;
use crate::plane::registry::Registered;

/// Returns the preview of a call, if its tool has one: it runs on a blocking thread, when it is polled.
pub(super) fn of(ctx: &CallContext, tool: &Registered, request: &ApprovalRequest) -> Option<ShowPreview> {
    let show = tool.preview()?;
    // What would run, where a type writes its value differently.
    let arguments = request.given.as_ref().unwrap_or(&request.arguments).clone();
    let ctx = ctx.clone();
    let shown = async move {
        let shown = AbortOnDropHandle::new(tokio::task::spawn_blocking(move || show(&ctx, arguments))).await;
        match shown {
            Ok(Ok(text)) => text,
            Ok(Err(error)) => format!("No preview: {}", chain(&*error)),
            Err(_) => "No preview: the tool's `preview` function panicked".to_owned(),
        }
    };
    Some(shown.boxed())
}
