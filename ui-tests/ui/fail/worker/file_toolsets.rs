//! A path that a worker file lists is resolved by the compiler, and blamed on the file's name.

#![allow(unused)]

use llm_do::worker;

fn no_tool() {}

struct NoTool;

#[worker(file = "toolsets.worker")]
async fn judge(input: String) -> u8;

fn main() {}
