//! A tool is generic.

use llm_do::prelude::*;

/// Show a value.
#[tool(effect = read_only)]
fn show<T: ToString>(value: T) -> String {
    value.to_string()
}

fn main() {}
