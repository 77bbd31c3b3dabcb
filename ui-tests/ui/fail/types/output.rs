//! A result is written to JSON; a worker's is read from it as well.

#![allow(unused)]

use llm_do::{tool, worker};

struct Opaque;

/// Ping.
#[tool]
fn ping() -> Opaque {
    Opaque
}

/// Pong.
#[tool]
async fn pong() -> Result<Opaque, std::fmt::Error> {
    Ok(Opaque)
}

/// Judge.
#[worker]
async fn judge() -> Opaque;


fn main() {}
