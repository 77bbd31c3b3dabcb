//! Uses of an invalid toolset cause no further errors.

#![allow(unused)]

use llm_do::{CallContext, CallError, entry, tool, toolset};

/// Ping.
#[tool]
fn ping() {}

/// Pong.
#[tool]
fn pong() {}

toolset! {
    /// A member is at fault.
    pings = [ping, 3, "pong"];

    /// The form is at fault.
    pongs = [ping.onyl([pong])];

    /// The name is at fault.
    größe = [pong];

    /// The list is at fault.
    none = pong;
}

#[entry(toolsets = [pings, größe])]
async fn start(ctx: &CallContext<start>) -> Result<(), CallError> {
    ctx.call(ping {}).await?;
    ctx.call(pong {}).await
}

#[entry(toolsets = [pongs, none])]
async fn start_again(ctx: &CallContext<start_again>) -> Result<(), CallError> {
    ctx.call(pong {}).await
}

fn main() {}
