//! A key of the attribute is misspelt.

use llm_do::prelude::*;

/// Say hello.
#[worker(modle = "openai:gpt-5-mini")]
async fn greet(input: String) -> String;

fn main() {}
