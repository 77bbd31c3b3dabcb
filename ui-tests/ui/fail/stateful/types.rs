//! The argument struct stands outside the block, where `Self` is another type.

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
