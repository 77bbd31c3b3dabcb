//! A function cannot have lifetime parameters.

#![allow(unused)]

use std::borrow::Cow;

use llm_do::{State, tool};

/// Ping.
#[tool]
fn ping<'a>(text: Cow<'a, str>, name: &'a str, names: &'a [&'a str], state: &'a State<u8>) -> Cow<'a, str> {
    text
}

fn main() {}
