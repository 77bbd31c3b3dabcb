//! Pointers, function pointers and trait objects have no JSON.

#![allow(unused)]

use std::fmt::Display;

use llm_do::{ToolContext, tool, worker};

/// Ping.
#[tool]
fn ping(
    raw: *const u8,
    raw_mut: Option<*mut u8>,
    function: fn(u8) -> u8,
    object: Box<dyn Fn(u8) -> u8>,
    borrowed: &dyn Display,
    context: Box<dyn ToolContext>,
) {
}

/// Judge.
#[worker]
async fn judge(object: Vec<Box<dyn Display>>) -> Box<dyn Display>;

/// Pong.
#[tool]
fn pong() -> *const u8 {
    std::ptr::null()
}

/// Peng.
#[tool]
fn peng() -> Result<fn() -> u8, String> {
    Ok(|| 3)
}

fn main() {}
