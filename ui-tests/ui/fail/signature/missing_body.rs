//! Only a worker can have no body.

#![allow(unused)]

use llm_do::{entry, tool};

/// Ping.
#[tool]
fn ping(text: String) -> u8;

#[entry]
async fn start();


fn main() {}
