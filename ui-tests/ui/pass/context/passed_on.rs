//! A context is an ordinary value: it can be cloned, stored, passed and sent.

#![deny(warnings)]

use llm_do::{CallContext, CallError, ToolContext, entry, tool};

/// Ping.
#[tool]
fn ping() -> u8 {
    3
}

async fn twice(ctx: &CallContext<start>) -> Result<u8, CallError> {
    Ok(ctx.call(ping {}).await? + ctx.call(ping {}).await?)
}

async fn by_name(ctx: &dyn ToolContext) -> Result<llm_do::Value, CallError> {
    ctx.call_tool("ping", llm_do::json!({})).await
}

async fn generic<S: llm_do::__private::Declares<ping>>(ctx: CallContext<S>) -> Result<u8, CallError> {
    ctx.call(ping {}).await
}

fn assert_sent<T: Send + 'static>(value: T) -> T {
    value
}

#[entry(toolsets = [ping])]
async fn start(ctx: &CallContext<start>) -> Result<u8, CallError> {
    by_name(ctx).await?;
    let kept = assert_sent(ctx.clone());
    let own = assert_sent(async move { twice(&kept).await }).await?;
    let call = ctx.call(ping {});
    Ok(own + call.await? + generic(ctx.clone()).await?)
}

fn main() {}
