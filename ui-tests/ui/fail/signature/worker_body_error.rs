//! The compiler reports an error type that `?` cannot convert in the body of a worker.

#![allow(unused)]

use llm_do::worker;

struct Opaque;

fn find() -> Result<String, Opaque> {
    Err(Opaque)
}

/// Judge.
#[worker]
async fn judge(input: String) -> u8 {
    find()?
}

fn main() {}
