//! An argument must be sized.

#![allow(unused)]

use std::path::Path;

use llm_do::worker;

/// Judge.
#[worker]
async fn judge(text: str, path: Path, slice: [u8]) -> u8;

fn main() {}
