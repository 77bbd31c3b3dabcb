//! `compatible_models` is a list of string literals and excludes `model`; a model name has a provider.

#![allow(unused)]

use llm_do::worker;

/// Judge.
#[worker(compatible_models = [])]
async fn judge(input: String) -> u8;

/// Judge again.
#[worker(compatible_models = ["test:*", " ", 3])]
async fn judge_again(input: String) -> u8;

/// Judge once more.
#[worker(compatible_models = "test:*", model = ["test:a"])]
async fn judge_once_more(input: String) -> u8;

/// Judge by one, and by many.
#[worker(model = "test:a", compatible_models = ["test:*"])]
async fn judge_by_both(input: String) -> u8;

/// Judge by a model without a provider.
#[worker(model = "gpt-5")]
async fn judge_without_provider(input: String) -> u8;

/// Judge by a provider without a model.
#[worker(model = "openai: ")]
async fn judge_without_model(input: String) -> u8;

fn main() {}
