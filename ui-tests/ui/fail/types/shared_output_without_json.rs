//! An output or error need not be `Send`, but an output is serialized.

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
