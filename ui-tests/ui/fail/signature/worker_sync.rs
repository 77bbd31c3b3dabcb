//! A model takes its time.

#![allow(unused)]

use llm_do::worker;

/// Judge.
#[worker]
fn judge(text: String) -> u8;


fn main() {}
