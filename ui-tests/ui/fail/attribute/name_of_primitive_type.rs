//! An argument struct with the name of a primitive type would shadow that type in its module.

#![allow(unused)]

use llm_do::{tool, toolset, worker};

/// Make a text.
#[tool]
fn str(length: usize) -> String {
    String::new()
}

/// Make a letter.
#[tool(name = "letter")]
fn r#char(code: u32) -> Option<char> {
    char::from_u32(code)
}

/// Make a number.
#[tool(args = f64)]
fn number(digits: &str) -> f64 {
    digits.parse().unwrap_or_default()
}

/// Judge.
#[worker]
async fn bool(input: String) -> bool;

toolset! {
    /// Numbers.
    usize = [fine];
}

/// Shorten a text.
#[tool]
fn fine(text: &str, length: usize, by_char: bool) -> String {
    text.to_owned()
}


fn main() {}
