//! An argument type is serialized, deserialized and has a schema.

#![allow(unused)]

use llm_do::{tool, worker};

struct Opaque;

/// Ping.
#[tool]
fn ping(item: Opaque) {}

/// Judge.
#[worker]
async fn judge(item: Vec<Opaque>) -> u8;


fn main() {}
