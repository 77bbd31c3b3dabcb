//! A result leaves the thread that made it as JSON, so it need not be `Send`; an error may stay behind as well.

#![allow(unused)]

use llm_do::tool;

struct Opaque;

/// Fine.
#[tool]
fn ping() -> Result<std::rc::Rc<u8>, Box<dyn std::error::Error>> {
    Ok(3.into())
}

/// Not fine.
#[tool]
fn pong() -> Result<std::rc::Rc<Opaque>, Box<dyn std::error::Error>> {
    Ok(Opaque.into())
}

fn main() {}
