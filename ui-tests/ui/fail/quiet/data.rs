//! A type is derived whatever `#[data]` is told, so that those who take it are not told of it.

#![allow(unused)]

use llm_do::{data, tool, worker};

/// A review.
#[data(rename_all = "camelCase")]
struct Review {
    score: u8,
}

/// Judge.
#[worker]
async fn judge(input: String) -> Review;

/// Ping.
#[tool]
fn ping(review: Review) -> Review {
    review
}

fn main() {}
