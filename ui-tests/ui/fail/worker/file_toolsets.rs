//! The compiler resolves a path in a worker file, and reports errors at the name of the file.

#![allow(unused)]

use llm_do::worker;

fn no_tool() {}

struct NoTool;

#[worker(file = "toolsets.worker")]
async fn judge(input: String) -> u8;

fn main() {}
