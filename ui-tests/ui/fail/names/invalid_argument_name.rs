//! Argument names are unique, and model providers restrict their characters.

#![allow(unused)]

use llm_do::tool;

/// Ping.
#[tool]
fn ping(
    #[arg(rename = "text")] first: String,
    #[arg(rename = "text")] second: String,
    größe: u8,
    #[arg(rename = "a b")] third: u8,
    r#type: u8,
    #[arg(rename = "type")] other: u8,
) {
}

fn main() {}
