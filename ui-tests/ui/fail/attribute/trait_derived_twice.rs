//! `#[data]` and `#[derive]` cannot derive the same trait.

#![allow(unused)]

use llm_do::data;
use schemars::JsonSchema;

#[data]
#[derive(Debug, Clone, serde::Serialize, JsonSchema)]
struct Range {
    from: u32,
}

fn main() {}
