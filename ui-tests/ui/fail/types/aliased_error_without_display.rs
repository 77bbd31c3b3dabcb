//! The same for an error type under an alias.

#![allow(unused)]

use llm_do::{entry, tool};

#[derive(Debug)]
struct Opaque;

type Fallible<T> = Result<T, Opaque>;

/// Ping.
#[tool]
async fn ping() -> Fallible<u8> {
    Err(Opaque)
}

#[entry]
fn start() -> Result<(), ()> {
    Err(())
}

/// Pong.
#[tool]
fn pong() -> Result<u8, Vec<String>> {
    Ok(3)
}

fn main() {}
