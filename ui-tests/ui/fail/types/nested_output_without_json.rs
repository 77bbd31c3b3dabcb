//! The same for a type inside another, under any alias.

#![allow(unused)]

use llm_do::{data, entry, prelude, tool};

struct Opaque;

type Fallible<T> = std::io::Result<T>;

/// Ping.
#[tool]
fn ping() -> Vec<Opaque> {
    vec![]
}

/// Pong.
#[tool]
async fn pong() -> Fallible<Option<Opaque>> {
    Ok(None)
}

#[entry]
async fn start() -> prelude::Result<Opaque> {
    Ok(Opaque)
}

#[entry]
fn start_again() -> Result<(u8, Opaque), String> {
    Ok((1, Opaque))
}

fn main() {}
