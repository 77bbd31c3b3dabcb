//! An output type is serialized; that of a worker is deserialized too.

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
