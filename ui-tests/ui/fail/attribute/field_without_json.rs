//! The derives of serde and schemars report a field whose type has no JSON.

#![allow(unused)]

use llm_do::data;

struct Opaque;

#[data]
struct Range {
    from: Opaque,
}

fn main() {}
