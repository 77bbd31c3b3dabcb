//! A `Result` inside a `Result` is an error: a model would see the inner error as a success.

use llm_do::tool;

/// Parse twice.
#[tool]
fn parse(text: &str) -> Result<Result<u8, std::num::ParseIntError>, String> {
    Ok(text.parse())
}

fn main() {}
