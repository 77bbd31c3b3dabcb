//! A value in the wrong form is reported with the right form.

#![allow(unused)]

use llm_do::{tool, worker};

/// Ping.
#[tool(name = ping, args = "Ping", inline = true, effect, description = 3, toolsets = judge)]
fn ping() {}

/// Pong.
#[tool(name = "pong" args = Pong, = 3)]
fn pong() {}

/// Judge.
#[worker(model = 3, compatible_models = "test:*", instructions = 4)]
async fn judge(#[arg] a: u8, #[arg(rename = b)] b: u8) -> u8;


fn main() {}
