//! With wrong arguments, `#[data]` still derives the traits, so that uses of the type cause no errors.

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
