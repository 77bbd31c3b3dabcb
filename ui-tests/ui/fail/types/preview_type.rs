//! The function of `preview` takes the context and the argument struct.

#![allow(unused)]

use llm_do::prelude::*;

/// Write a note.
#[tool(preview = shown)]
fn write(title: String) {}

fn shown(title: &str) -> String {
    title.to_owned()
}

/// Delete a note.
#[tool(preview = "delete")]
fn delete(title: String) {}

fn main() {}
