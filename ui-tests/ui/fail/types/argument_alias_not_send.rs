//! A type under an alias that is not `Send` is reported at the function and at the type.

#![allow(unused)]

use llm_do::tool;

type Shared = std::rc::Rc<String>;

/// Ping.
#[tool]
async fn ping(text: Shared) {}

fn main() {}
