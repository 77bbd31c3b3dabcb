//! An injected parameter is not in the schema, so it cannot have attributes of arguments.

#![allow(unused)]

use llm_do::{CallContext, State, tool};

/// Ping.
#[tool]
async fn ping(
    #[arg(default = 3)] ctx: &CallContext,
    #[ctx]
    #[arg(rename = "a")]
    name: State<String>,
    #[serde(skip)] number: State<u8>,
    #[ctx(state)] other: State<u16>,
    #[cfg(unix)] only: u8,
    #[arg(rename = "only")] also: u8,
) {
}


fn main() {}
