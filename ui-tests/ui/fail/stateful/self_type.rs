//! The argument struct is defined outside the `impl`, where `Self` is not the type.

#![allow(unused)]

use llm_do::{data, tool};

#[data]
#[derive(Default)]
struct Note(String);

/// Notes.
#[tool]
impl Note {
    /// Replace.
    #[tool]
    fn replace(&self, by: Vec<Self>) -> Option<Self> {
        None
    }
}

fn main() {
    let _ = replace {};
}
