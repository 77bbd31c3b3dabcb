//! A worker must be async.

#![allow(unused)]

use llm_do::worker;

/// Judge.
#[worker]
fn judge(text: String) -> u8;


fn main() {}
