//! The type that a worker returns derives nothing.

use llm_do::prelude::*;

struct Review {
    _text: String,
}

/// Review a text.
#[worker]
async fn review(input: String) -> Review;

fn main() {}
