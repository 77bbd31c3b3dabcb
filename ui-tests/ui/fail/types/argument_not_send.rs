//! A call moves its arguments between threads; a type of one's own that must stay is told by the compiler as well.

#![allow(unused)]

use std::rc::Rc;

use llm_do::{tool, worker};

/// Ping.
#[tool]
fn ping(text: Rc<String>, list: Vec<std::rc::Rc<str>>) {}

/// Judge.
#[worker]
async fn judge(text: Option<Rc<String>>) -> u8;

fn main() {}
