//! The tool of `reconcile` has the same arguments, returns an `Option` of the result, and only reads.

#![allow(unused)]

use llm_do::tool;

/// With another parameter.
#[tool(effect = read_only)]
fn of_other(number: u32) -> Option<u8> {
    None
}

/// Pay.
#[tool(effect = destructive, reconcile = of_other)]
fn pay_other(bill: u32) -> u8 {
    1
}

/// With a parameter of another type.
#[tool(effect = read_only)]
fn of_text(bill: String) -> Option<u8> {
    None
}

/// Pay.
#[tool(effect = destructive, reconcile = of_text)]
fn pay_text(bill: u32) -> u8 {
    1
}

/// With more parameters.
#[tool(effect = read_only)]
fn of_more(bill: u32, day: u32) -> Option<u8> {
    None
}

/// Pay.
#[tool(effect = destructive, reconcile = of_more)]
fn pay_more(bill: u32) -> u8 {
    1
}

/// Without an `Option`.
#[tool(effect = read_only)]
fn always(bill: u32) -> u8 {
    1
}

/// Pay.
#[tool(effect = destructive, reconcile = always)]
fn pay_always(bill: u32) -> u8 {
    1
}

/// With an `Option` of something else.
#[tool(effect = read_only)]
fn maybe(bill: u32) -> Option<bool> {
    None
}

/// Pay.
#[tool(effect = destructive, reconcile = maybe)]
fn pay_maybe(bill: u32) -> u8 {
    1
}

/// Not only a reader.
#[tool(effect = idempotent)]
fn sets(bill: u32) -> Option<u8> {
    None
}

/// Pay.
#[tool(effect = destructive, reconcile = sets)]
fn pay_setting(bill: u32) -> u8 {
    1
}

/// Without an effect.
#[tool]
fn silent(bill: u32) -> Option<u8> {
    None
}

/// Pay.
#[tool(reconcile = silent)]
fn pay_silently(bill: u32) -> u8 {
    1
}

fn main() {}
