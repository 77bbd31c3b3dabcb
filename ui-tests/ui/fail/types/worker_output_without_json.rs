//! The output type of a worker is deserialized and has a schema.

#![allow(unused)]

use llm_do::{CallError, worker};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct NotDescribed;

#[derive(Serialize, JsonSchema)]
struct NotRead;

/// Judge.
#[worker]
async fn judge(input: String) -> NotDescribed;

/// Judge again.
#[worker]
async fn judge_again(input: String) -> Result<Vec<NotRead>, CallError>;

/// Judge with a body.
#[worker]
async fn judge_with_a_body(input: String) -> NotRead {
    input
}

fn main() {}
