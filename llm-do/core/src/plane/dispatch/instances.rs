//! The instances of stateful toolsets that a call needs: opened before its tool starts, and closed after it has
//! finished.

use futures_util::future::BoxFuture;

use super::pipeline::{Call, CallResult, Next, Wrapper};
use crate::base::error::CallError;
use crate::plane::context::CallContext;
use crate::plane::registry::{Prepared, Registered};

/// Closes the instances of a call. Opening them is a part of the call, for which its timeout counts.
pub(super) const WRAPPER: Wrapper = Wrapper { applies: |call| are_needed(&call.tool), around };

fn around<'c>(call: &'c mut Call<'_>, prepared: Prepared, next: Next) -> BoxFuture<'c, CallResult> {
    Box::pin(async move {
        let result = next.run(call, prepared).await;
        close(call.ctx, result).await
    })
}

/// Returns whether a call of the tool opens instances.
pub(super) fn are_needed(tool: &Registered) -> bool {
    tool.receiver.is_some() || !tool.instances.is_empty()
}

/// Opens the instances that a call needs: the receiver of a method, and those of declared toolsets.
pub(super) async fn open(tool: &Registered, ctx: &CallContext) -> Result<(), CallError> {
    let own = &ctx.frame().instances;
    if let Some(def) = &tool.receiver {
        // A caller that does not declare the toolset has no instance, so the call gets a new one.
        let receiver = match ctx.caller().and_then(|caller| caller.frame().instances.get(def.key())) {
            Some(opened) => opened,
            None => def.open(ctx).await?,
        };
        own.set_receiver(receiver);
    }
    for def in &tool.instances {
        own.push(def.open(ctx).await?);
    }
    Ok(())
}

/// Closes the open instances of a finished call; if that fails, the call fails.
pub(super) async fn close(ctx: &CallContext, result: CallResult) -> CallResult {
    let failed = |error| CallError::Failed {
        tool: ctx.name().to_owned(),
        source: format!("a toolset could not be closed: {error}").into(),
    };
    let closed = ctx.frame().instances.close().await;
    result.and_then(|returned| closed.map(|()| returned).map_err(failed))
}
