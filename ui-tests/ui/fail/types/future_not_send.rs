//! The compiler reports a future that is not `Send`, at the name of the function.

#![allow(unused)]

use std::rc::Rc;
use std::sync::Mutex;

use llm_do::{entry, tool, worker};

/// Ping.
#[tool]
async fn ping(number: u8) -> u8 {
    let number = Rc::new(number);
    std::future::ready(()).await;
    *number
}

#[entry]
async fn start() -> u8 {
    let mutex = Mutex::new(3);
    let guard = mutex.lock().unwrap();
    std::future::ready(()).await;
    *guard
}

/// Judge.
#[worker]
async fn judge(input: String) -> u8 {
    let input = Rc::new(input);
    std::future::ready(()).await;
    input.to_string()
}

fn main() {}
