//! A returned future is not awaited; an `async fn` is.

#![allow(unused)]

use std::future::Future;
use std::pin::Pin;

use llm_do::{entry, tool};

/// Ping.
#[tool]
fn ping() -> impl Future<Output = u8> {
    async { 3 }
}

/// Pong.
#[tool]
fn pong() -> impl std::future::Future<Output = Result<u8, String>> + Send {
    async { Ok(3) }
}

/// Peng.
#[tool]
fn peng() -> Pin<Box<dyn Future<Output = u8> + Send>> {
    Box::pin(async { 3 })
}

#[entry]
fn start() -> Result<Pin<Box<dyn Future<Output = u8> + Send>>, String> {
    Ok(Box::pin(async { 3 }))
}

fn main() {}
