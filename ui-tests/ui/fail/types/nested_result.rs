//! An error in a success would be told to a model as a success.

use llm_do::tool;

/// Parse twice.
#[tool]
fn parse(text: &str) -> Result<Result<u8, std::num::ParseIntError>, String> {
    Ok(text.parse())
}

fn main() {}
