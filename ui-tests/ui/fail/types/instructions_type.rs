//! A function that computes instructions takes injected parameters and returns a text.

#![allow(unused)]

use std::rc::Rc;

use llm_do::{State, worker};

fn takes_argument(level: u8) -> String {
    level.to_string()
}

fn returns_number() -> u8 {
    3
}

async fn is_not_send(level: State<u8>) -> String {
    let shared = Rc::new(*level);
    std::future::ready(()).await;
    shared.to_string()
}

/// Judge by an argument.
#[worker(instructions_with = takes_argument)]
async fn judge(input: String) -> u8;

/// Judge by a number.
#[worker(instructions_with = returns_number)]
async fn judge_by_number(input: String) -> u8;

/// Judge in one thread.
#[worker(instructions_with = is_not_send)]
async fn judge_in_one_thread(input: String) -> u8;

/// Judge by nothing.
#[worker(instructions_with = missing)]
async fn judge_by_nothing(input: String) -> u8;

fn main() {}
