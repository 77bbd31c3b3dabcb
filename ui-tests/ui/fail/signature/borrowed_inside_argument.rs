//! An argument cannot contain a borrowed type.

#![allow(unused)]

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use llm_do::{data, tool, worker};

#[data]
struct Range {
    from: u32,
}

/// Ping.
#[tool]
fn ping(
    twice: &&str,
    range: &Range,
    range_mut: &mut Range,
    maybe: Option<&str>,
    path: Option<&Path>,
    map: HashMap<&str, &Range>,
    pair: (&str, u8),
    array: [&str; 2],
    slice: &[&str],
    slice_mut: &mut [u8],
    vec: &Vec<String>,
    text: &String,
    boxed: Box<&str>,
) {
}

/// Judge.
#[worker]
async fn judge(text: &Range) -> &str;

fn main() {}
