//! `#[tool]` on an `impl` takes three keys; the `impl` has tools, no generics and no trait.

#![allow(unused)]

use llm_do::tool;

#[derive(Default)]
struct Kept<T>(Option<T>);

/// Keeps.
#[tool]
impl<T> Kept<T> {
    /// Keep.
    #[tool]
    fn keep(&self) {}
}

#[derive(Default)]
struct Copied;

/// Copies.
#[tool(effect = read_only, nam = "copies")]
impl Clone for Copied {
    fn clone(&self) -> Self {
        Self
    }
}

fn main() {}
