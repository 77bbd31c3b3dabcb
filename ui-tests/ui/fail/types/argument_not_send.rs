//! Arguments are `Send`; the compiler reports other types that are not.

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
