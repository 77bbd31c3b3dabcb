//! All errors of a signature are reported together.

#![allow(unused)]

use llm_do::{entry, worker};

#[entry]
const unsafe extern "C" fn start<T>() {}

/// Judge.
#[worker]
unsafe fn judge<'a>(text: &'a str, ...) -> &'a str;

fn main() {}
