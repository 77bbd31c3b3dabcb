//! `ToolContext` is a trait, so a parameter has the type `&dyn ToolContext`.

#![allow(unused)]

use llm_do::{ToolContext, tool};

/// Ping.
#[tool]
async fn ping(ctx: &ToolContext) {}

/// Pong.
#[tool]
async fn pong(ctx: dyn ToolContext) {}

fn main() {}
