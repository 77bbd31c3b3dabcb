//! A lifetime has no caller to be named by.

#![allow(unused)]

use std::borrow::Cow;

use llm_do::{State, tool};

/// Ping.
#[tool]
fn ping<'a>(text: Cow<'a, str>, name: &'a str, names: &'a [&'a str], state: &'a State<u8>) -> Cow<'a, str> {
    text
}

fn main() {}
