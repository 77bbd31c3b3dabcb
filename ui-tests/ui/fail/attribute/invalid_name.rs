//! Model providers restrict the characters and the length of tool names.

#![allow(unused)]

use llm_do::{tool, toolset};

/// Ping.
#[tool(name = "ping pong")]
fn ping() {}

/// Empty.
#[tool(name = "")]
fn empty() {}

/// Long.
#[tool]
fn a_name_of_more_than_64_characters_is_more_than_any_provider_will_take() {}

/// Größe.
#[tool]
fn größe() {}

toolset! {
    /// Dateien.
    überall = [ping];
}


fn main() {}
