//! Parameters can have names that generated code uses; two tools can have the same parameters and defaults.

#![deny(warnings)]

use llm_do::{CallContext, CallError, State, entry, tool, worker};

/// Ping.
#[tool]
fn ping(
    __ctx: &CallContext,
    __fields: u8,
    __value: u8,
    __returned: u8,
    __kind: State<u8>,
    __injected_0: u8,
    #[arg(default = 3)] __default_0: u8,
    ctx: u8,
    fields: u8,
    arguments: u8,
    name: u8,
    this: u8,
) -> u8 {
    let _ = (__ctx, __kind);
    __fields + __value + __returned + __injected_0 + __default_0 + ctx + fields + arguments + name + this
}

/// Pong.
#[tool]
fn pong(#[arg(default = 3)] limit: u8, #[arg(default = "a", example = "b")] text: String) -> u8 {
    let _ = text;
    limit
}

/// Peng.
#[tool]
fn peng(#[arg(default = 4)] limit: u8, #[arg(default = "a", example = "b")] text: String) -> u8 {
    let _ = text;
    limit
}

/// Judge.
#[worker]
async fn judge(__prompt: String, __ctx: u8, __settings: u8) -> u8 {
    format!("{__prompt}{__ctx}{__settings}")
}

#[entry]
async fn start(ctx: &CallContext) -> Result<u8, CallError> {
    Ok(ctx.call(pong::default()).await? + ctx.call(peng::default()).await?)
}

fn main() {
    assert_eq!((pong::default().limit, peng::default().limit), (3, 4));
}
