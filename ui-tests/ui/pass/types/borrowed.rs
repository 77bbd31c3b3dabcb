//! A parameter can borrow from the argument struct.

#![deny(warnings)]

use std::borrow::Cow;
use std::path::Path;

use llm_do::{data, tool};

#[data]
struct Range {
    from: u32,
}

impl Range {
    fn first(&self) -> usize {
        usize::try_from(self.from).unwrap_or_default()
    }
}

/// Borrows every type that can be borrowed.
#[tool]
fn borrows(
    a: &str,
    b: &Path,
    c: &std::path::Path,
    d: &[u8],
    e: &[Vec<Option<String>>],
    f: &[Range],
    g: Cow<'_, str>,
    h: Cow<'static, str>,
    i: Cow<str>,
) -> usize {
    a.len()
        + b.iter().count()
        + c.iter().count()
        + d.len()
        + e.len()
        + f.iter().map(Range::first).sum::<usize>()
        + g.len()
        + h.len()
        + i.len()
}

fn main() {}
