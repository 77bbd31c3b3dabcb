//! A worker without a body is not a function and cannot be called directly.

#![allow(unused)]

use llm_do::worker;

/// Judge.
#[worker]
async fn judge(input: String) -> u8;

async fn direct() {
    let _ = judge("text".to_owned()).await;
}

fn main() {}
