//! An argument is a plain name, mutable or not; an injected parameter can be any pattern.

#![deny(warnings)]

use llm_do::{CallContext, State, tool};

/// Ping.
#[tool]
fn ping(
    mut text: String,
    mut words: Vec<String>,
    mut ctx: CallContext,
    mut count: State<u8>,
    mut path: &str,
) -> String {
    text.push('a');
    words.push(text.clone());
    path = path.trim();
    ctx = ctx.clone();
    count = count.clone();
    format!("{text}{words:?}{path}{}{}", ctx.depth(), *count)
}

/// Pong.
#[tool]
fn pong(_: &CallContext, _: State<u8>, _text: String, _words: &[String]) {}

fn main() {}
