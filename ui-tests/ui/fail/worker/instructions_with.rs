//! A worker has one source of instructions, and a function that computes them is named by its path.

#![allow(unused)]

use llm_do::worker;

fn persona() -> String {
    String::new()
}

/// Judge.
#[worker(instructions = "Judge.", instructions_with = persona)]
async fn judge(input: String) -> u8;

/// Judge by a name.
#[worker(instructions_with = "persona")]
async fn judge_by_name(input: String) -> u8;

/// Judge twice.
#[worker(instructions_with = persona, instructions_with = persona, instruction_with = persona)]
async fn judge_twice(input: String) -> u8;

#[worker(file = "instructed.worker", instructions_with = persona)]
async fn judge_by_file(input: String) -> u8;

fn main() {}
