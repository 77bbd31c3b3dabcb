//! An invalid value of a key is reported with the valid ones.

#![allow(unused)]

use llm_do::{Settings, worker};

/// Search.
#[worker(server_side_tools = [web_serch, web_search, web_search, web_fetch(max_uses = 1), 3])]
async fn search(input: String) -> u8;

/// Search a little.
#[worker(server_side_tools = [web_search(max_use = 3, allowed_domains = [], blocked_domains = "a")])]
async fn search_little(input: String) -> u8;

/// Search nothing.
#[worker(server_side_tools = web_search, output = natve, hints = "facts", settings)]
async fn search_nothing(input: String) -> u8;

/// Search everything.
#[worker(output = "tool", hints = [facts], file = reviewer)]
async fn search_everything(input: String) -> u8;

/// Search silently.
#[worker(hints = ["facts", " "], hints = ["more"])]
async fn search_silently(input: String) -> u8;

/// Search by code.
#[worker(code = "yes")]
async fn search_by_code(input: String) -> u8;

fn main() {}
