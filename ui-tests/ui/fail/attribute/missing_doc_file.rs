//! The compiler reports a missing file of `#[doc = include_str!(..)]`.

#![allow(unused)]

#[doc = include_str!("missing.md")]
#[llm_do::tool]
fn ping() {}

fn main() {}
