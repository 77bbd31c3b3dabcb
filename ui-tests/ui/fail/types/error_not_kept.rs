//! `error` names a type that a journal can keep, of a function that can fail.

#![allow(unused)]

use std::fmt;

use llm_do::{entry, tool};

#[derive(Debug)]
struct Plain;

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("plain")
    }
}

impl std::error::Error for Plain {}

#[llm_do::data]
struct Kept;

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("kept")
    }
}

impl std::error::Error for Kept {}

/// Ping.
#[tool(error = Plain)]
fn ping() -> Result<u8, Plain> {
    Err(Plain)
}

/// Ping without an error.
#[tool(error = Kept)]
fn ping_always() -> u8 {
    3
}

#[entry(error = Kept)]
fn start() {}

/// Ping with an error in quotes.
#[tool(error = "Kept")]
fn ping_quoted() -> Result<u8, Kept> {
    Err(Kept)
}

fn main() {}
