//! A worker needs at least one turn.

#![allow(unused)]

use llm_do::worker;

/// Judge.
#[worker(max_turns = 0)]
async fn judge(input: String) -> u8;

/// Judge again.
#[worker(max_turns = 0_u32, model = 3)]
async fn judge_again(input: String) -> u8;

/// Judge once.
#[worker(max_turns = 1, retries = 0)]
async fn judge_once(input: String) -> u8;


fn main() {}
