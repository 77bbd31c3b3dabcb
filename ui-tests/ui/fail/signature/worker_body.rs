//! A body would never run.

#![allow(unused)]

use llm_do::worker;

/// Judge.
#[worker]
async fn judge(text: String) -> u8 {
    text.len() as u8
}


fn main() {}
