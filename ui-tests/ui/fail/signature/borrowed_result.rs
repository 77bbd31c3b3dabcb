//! A result cannot borrow from the arguments.

#![allow(unused)]

use std::borrow::Cow;

use llm_do::{entry, tool};

/// Ping.
#[tool]
fn ping(text: &str) -> &str {
    text
}

/// Pong.
#[tool]
fn pong(text: &str) -> Result<Cow<'_, str>, std::fmt::Error> {
    Ok(text.into())
}

/// Fine: a `'static` borrow.
#[tool]
fn fine() -> &'static str {
    "fine"
}

#[entry]
fn start(lines: &[String]) -> Option<&[String]> {
    Some(lines)
}


fn main() {}
