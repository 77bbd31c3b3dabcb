//! A worker cannot be called as a function, whether or not it has a body.

#![allow(unused)]

use llm_do::worker;

/// Judge.
#[worker]
async fn judge(input: String) -> u8;

/// Judge by a prompt of its own.
#[worker]
async fn judge_by_prompt(input: String) -> u8 {
    input
}

async fn direct() -> u8 {
    judge("text".to_owned()).await + judge_by_prompt("text".to_owned()).await
}

fn main() {}
