//! A type error in a body is reported once, at its tokens.

#![allow(unused)]

use llm_do::{CallContext, entry, tool, worker};

/// Ping.
#[tool]
fn ping(text: String) -> u8 {
    let number: u8 = text;
    missing(number)
}

/// Pong.
#[tool]
async fn pong(text: &str) -> String {
    text
}

#[entry(toolsets = [ping])]
async fn start(ctx: &CallContext<start>) -> u8 {
    ctx.call(ping { text: 3 }).await?
}

/// Judge.
#[worker]
async fn judge(text: String) -> u8 {
    let number: u8 = text;
    number.to_string()
}

fn main() {}
