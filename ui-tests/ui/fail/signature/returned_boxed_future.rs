//! A future under an alias is reported by its type.

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
