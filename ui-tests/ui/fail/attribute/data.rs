//! There is nothing to say to it; serde and schemars have attributes of their own.

#![allow(unused)]

/// A review.
#[llm_do::data(rename_all = "camelCase")]
struct Review {
    score: u8,
}

/// It is derived all the same.
#[llm_do::worker]
async fn judge() -> Review;

fn main() {}
