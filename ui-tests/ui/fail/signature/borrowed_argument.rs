//! An argument must own its data, since it is deserialized from JSON.

#![allow(unused)]

use std::borrow::Cow;
use std::path::PathBuf;

use llm_do::{State, entry, tool};

/// Ping.
#[tool]
fn ping(
    path: &PathBuf,
    text: &mut str,
    forever: &'static str,
    names: Vec<&str>,
    parts: &[&[u8]],
    cow: Cow<'_, str>,
    state: &mut State<u8>,
) {
}

#[entry]
fn start(name: Option<&str>) {}


fn main() {}
