//! A name is needed during expansion, so it must be a literal.

#![allow(unused)]

use llm_do::{tool, worker};

const NAME: &str = "ping";

/// Ping.
#[tool(name = NAME)]
fn ping(#[arg(rename = NAME)] number: u8) {}

/// Pong.
#[tool(name = concat!("po", "ng"))]
fn pong(#[arg(rename = stringify!(n))] number: u8) {}

/// Judge.
#[worker(model = NAME, compatible_models = [NAME], file = concat!("a", ".worker"))]
async fn judge(input: String) -> u8;

fn main() {}
