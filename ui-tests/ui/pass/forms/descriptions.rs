//! A description is a literal, a constant, a macro, or a doc comment in any form.

#![deny(warnings, missing_docs)]

use llm_do::{entry, tool, toolset, worker};

const TEXT: &str = "Ping.";

#[tool(description = TEXT)]
fn ping(#[arg(description = TEXT)] a: u8, #[arg(description = concat!("a", "b"))] b: u8) {
    let _ = (a, b);
}

#[tool(description = concat!("Pong", "."))]
fn pong() {}

#[doc = include_str!("../worker/bare.worker")]
#[tool]
fn from_a_file(
    #[doc = include_str!("../worker/bare.worker")]
    /// And more.
    a: u8,
) {
    let _ = a;
}

/** A block.

With lines. */
#[tool]
#[doc = "More of it."]
fn block(
    /** A parameter. */
    a: u8,
) {
    let _ = a;
}

#[tool]
#[doc(alias = "other")]
#[doc(hidden)]
/// After the attribute.
fn after() {}

#[worker(description = "Judge.", instructions = include_str!("../worker/bare.worker"))]
async fn judge(input: String) -> u8;

#[entry(description = TEXT)]
fn start() {}

/// Only people ask for this.
#[entry]
fn start_again() {}

toolset! {
    #[doc = concat!("All", ".")]
    all = [ping, pong, from_a_file, block, after, judge];
}

fn main() {}
