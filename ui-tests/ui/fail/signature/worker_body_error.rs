//! What leaves the body of a worker by `?` is an error that another thread may see: the compiler's words.

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
