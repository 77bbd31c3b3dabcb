//! A value that only the compiler can evaluate is reported at its expression.

#![allow(unused)]

use llm_do::{Settings, worker};

const NEVER: u32 = 0;

/// Judge with a number for settings.
#[worker(settings = 0.2)]
async fn judge(input: String) -> u8;

/// Judge with an option for settings.
#[worker(settings = Some(Settings::new()))]
async fn judge_again(input: String) -> u8;

/// Judge in no turn.
#[worker(max_turns = NEVER)]
async fn judge_never(input: String) -> u8;

/// Judge in so many turns.
#[worker(max_turns = "many", retries = -1)]
async fn judge_often(input: String) -> u8;

/// Judge with a number for limits.
#[worker(limits = 3, timeout = "2m")]
async fn judge_little(input: String) -> u8;

/// Judge with so many searches.
#[worker(server_side_tools = [web_search(max_uses = "many")])]
async fn judge_informed(input: String) -> u8;

fn main() {}
