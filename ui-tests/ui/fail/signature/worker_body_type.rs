//! The body of a worker returns its prompt, and errors with `?`.

#![allow(unused)]

use llm_do::{CallContext, State, worker};

/// Judge.
#[worker]
async fn judge(input: String) -> u8 {
    input.len()
}

/// Judge silently.
#[worker]
async fn judge_silently(input: String) -> u8 {}

/// Judge a number.
#[worker]
async fn judge_the_number(input: u8) -> u8 {
    input;
}

/// Judge a result.
#[worker]
async fn judge_a_result(path: String) -> u8 {
    std::fs::read_to_string(path)
}

fn main() {}
