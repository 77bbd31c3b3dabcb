//! `reconcile` names a tool.

#![allow(unused)]

use llm_do::tool;

/// Not a tool.
fn plain(bill: u32) -> Option<u8> {
    None
}

/// Pay.
#[tool(effect = destructive, reconcile = plain)]
fn pay_plainly(bill: u32) -> u8 {
    1
}

fn main() {}
