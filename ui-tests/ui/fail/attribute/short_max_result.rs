//! A shortened result has a beginning, an end and a notice.

#![allow(unused)]

use llm_do::{tool, worker};

/// Judge.
#[worker(max_result = 0)]
async fn judge(input: String) -> u8;

/// Count.
#[tool(max_result = 1_023)]
fn count() -> u8 {
    0
}

/// Judge briefly.
#[worker(max_result = 1_024)]
async fn judge_briefly(input: String) -> u8;


fn main() {}
