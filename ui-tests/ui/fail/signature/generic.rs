//! A function with one JSON schema cannot be generic.

#![allow(unused)]

use llm_do::{CallContext, CallError, entry, tool};

/// Ping.
#[tool]
fn ping<'a, T: Clone, const N: usize>(item: T, text: &'a str) -> [T; N]
where
    T: Copy,
{
    let _ = text;
    [item; N]
}

#[entry(toolsets = [ping])]
async fn start(ctx: &CallContext<start>) -> Result<(), CallError> {
    ctx.call(ping {}).await
}


fn main() {}
