//! A type that cannot leave its thread is told in the compiler's words, at the function, and in ours, at the type.

#![allow(unused)]

use llm_do::tool;

type Shared = std::rc::Rc<String>;

/// Ping.
#[tool]
async fn ping(text: Shared) {}

fn main() {}
