//! `final_result` is reserved for the output of workers.

#![allow(unused)]

use llm_do::{tool, toolset};

/// Finish.
#[tool]
fn final_result() {}

/// Finish again.
#[tool(name = "final_result")]
fn finish() {}

fn main() {}
