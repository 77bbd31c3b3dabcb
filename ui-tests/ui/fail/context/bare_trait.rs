//! `ToolContext` is a trait, and stands behind `&dyn`; the compiler asks the same of any function.

#![allow(unused)]

use llm_do::{ToolContext, tool};

/// Ping.
#[tool]
async fn ping(ctx: &ToolContext) {}

/// Pong.
#[tool]
async fn pong(ctx: dyn ToolContext) {}

fn main() {}
