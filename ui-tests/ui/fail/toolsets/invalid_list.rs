//! `toolsets` is a list in brackets.

#![allow(unused)]

use llm_do::{entry, tool, worker};

/// Read.
#[tool(toolsets = read)]
fn read() {}

/// Judge.
#[worker(toolsets = "read")]
async fn judge(input: String) -> u8;

#[entry(toolsets = (read, judge))]
fn start() {}

#[entry(toolsets = [read judge])]
fn start_again() {}

#[entry(toolsets)]
fn start_once_more() {}

fn main() {}
