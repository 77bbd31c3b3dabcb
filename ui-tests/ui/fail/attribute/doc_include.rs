//! A doc comment out of a file that is not there: the compiler's words, at the macro.

#![allow(unused)]

#[doc = include_str!("missing.md")]
#[llm_do::tool]
fn ping() {}

fn main() {}
