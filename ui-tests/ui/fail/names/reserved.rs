//! Workers give their results under a name that no tool may have.

#![allow(unused)]

use llm_do::{tool, toolset};

/// Finish.
#[tool]
fn final_result() {}

/// Finish again.
#[tool(name = "final_result")]
fn finish() {}

fn main() {}
