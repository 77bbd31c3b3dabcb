//! State is shared between threads.

#![allow(unused)]

use std::cell::RefCell;
use std::rc::Rc;

use llm_do::{State, tool};

/// Ping.
#[tool]
fn ping(state: State<RefCell<u8>>, other: &State<Rc<u8>>) {}

fn main() {}
