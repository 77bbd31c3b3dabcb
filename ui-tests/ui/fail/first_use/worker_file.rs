//! A worker file gives an invalid output schema.

use llm_do::prelude::*;

#[worker(file = "tools.worker")]
async fn judge(input: String) -> u8;

fn main() {}
