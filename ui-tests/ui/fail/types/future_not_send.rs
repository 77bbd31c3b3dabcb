//! A tool may run on any thread.

#![allow(unused)]

use std::rc::Rc;

use llm_do::tool;

/// Ping.
#[tool]
async fn ping(number: u8) -> u8 {
    let number = Rc::new(number);
    std::future::ready(()).await;
    *number
}


fn main() {}
