//! `impl Trait` has no JSON schema.

#![allow(unused)]

use llm_do::{ToolContext, tool, worker};

/// Ping.
#[tool]
fn ping(names: impl Iterator<Item = String>, boxed: Box<impl Clone>) -> impl Clone {
    let _ = (names, boxed);
}

/// Pong.
#[tool]
fn pong(ctx: impl ToolContext, other: &impl ToolContext) {}

/// Judge.
#[worker]
async fn judge(input: String) -> impl serde::Serialize;

fn main() {}
