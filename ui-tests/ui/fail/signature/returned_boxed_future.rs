//! An alias of a future is told by the compiler alone, in our words.

#![allow(unused)]

use std::future::Future;
use std::pin::Pin;

use llm_do::tool;

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Ping.
#[tool]
fn ping() -> BoxFuture<'static, u8> {
    Box::pin(async { 3 })
}

fn main() {}
