//! Only a worker is implemented by somebody else.

#![allow(unused)]

use llm_do::{entry, tool};

/// Ping.
#[tool]
fn ping(text: String) -> u8;

#[entry]
async fn start();


fn main() {}
