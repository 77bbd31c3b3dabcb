//! `self` is not allowed in a function; the compiler reports it too.

#![allow(unused)]

use llm_do::{entry, worker};

#[entry]
fn start(self) {}

/// Judge.
#[worker]
async fn judge(&mut self, input: String) -> u8;

fn main() {}
