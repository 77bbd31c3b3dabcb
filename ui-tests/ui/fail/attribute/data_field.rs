//! A field of a type that has no JSON is serde's and schemars' to tell: the derives are theirs.

#![allow(unused)]

use llm_do::data;

struct Opaque;

#[data]
struct Range {
    from: Opaque,
}

fn main() {}
