//! A worker file says `tools`, and gives an invalid schema.

use llm_do::prelude::*;

#[worker(file = "tools.worker")]
async fn judge(input: String) -> u8;

fn main() {}
