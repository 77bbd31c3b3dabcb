//! Injected parameters are shared, so they cannot be `&mut`.

#![allow(unused)]

use llm_do::{CallContext, State, ToolContext, entry, tool};

/// Ping.
#[tool]
async fn ping(ctx: &mut CallContext) {}

/// Pong.
#[tool]
async fn pong(ctx: &mut dyn ToolContext, state: &mut State<Vec<u8>>) {}

#[entry(toolsets = [ping])]
async fn start(ctx: &mut CallContext<start>) {}

fn main() {}
