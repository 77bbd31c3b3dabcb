//! An error type implements `Display` or `Error`.

#![allow(unused)]

use llm_do::tool;

struct Opaque;

/// Ping.
#[tool]
fn ping() -> Result<u8, Opaque> {
    Err(Opaque)
}


fn main() {}
