//! Every key of every attribute can be given only once.

#![allow(unused)]

use llm_do::{Limits, Settings, entry, tool, worker};

/// Ping.
#[tool(args = Ping, effect = read_only, toolsets = [], timeout = "1s", timeout = "2s", args = Pong, effect = idempotent, toolsets = [], description = "a", description = "b")]
fn ping(
    #[arg(rename = "a", rename = "b", description = "a", description = "b", example = 1, example = 2)] number: u8,
) {
}

#[entry(name = "a", name = "b", args = A, args = B, toolsets = [], toolsets = [], description = "a", description = "b")]
fn start() {}

/// Judge.
#[worker(
    compatible_models = ["a"], compatible_models = ["b"], instructions = "a", instructions = "b",
    server_side_tools = [], server_side_tools = [], settings = Settings::new(), settings = Settings::new(),
    output = auto, output = tool, max_turns = 1, max_turns = 2, retries = 1, retries = 2,
    limits = Limits::new(), limits = Limits::new(), timeout = "1s", timeout = "2s",
)]
async fn judge() -> u8;

fn main() {}
