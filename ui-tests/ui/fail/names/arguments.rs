//! Two arguments of one name could not be told apart, and models accept a small alphabet of names.

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
